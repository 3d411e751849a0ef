#include "plugins/graph/datasets/whole_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/base/error.hpp"

namespace cambium::graph {

/// The graph and the nodes of all samples.
static NodeSamples all_nodes(train::Dataset& data) {
  NodeSamples out;
  std::vector<std::int64_t> ids(static_cast<std::size_t>(data.size()));
  std::iota(ids.begin(), ids.end(), std::int64_t{0});
  for (const auto& sample : data.read(ids)) {
    const auto* storage = storage_of<NodeSamples>(*sample);
    if (!storage) throw InputError("loader whole_graph brings nodes of a graph; give a dataset of type graph");
    out.graph = storage->graph;
    out.nodes.push_back(storage->nodes[static_cast<std::size_t>(sample->id)]);
  }
  std::sort(out.nodes.begin(), out.nodes.end());
  return out;
}

void WholeGraphLoader::open(train::Dataset& data, const train::BatchPlan& plan, Context&) {
  plan_ = plan;
  if (plan.batch != plan.samples)
    throw InputError(
        fmt::format("loader whole_graph brings all {} samples at every step, but batch is {}; remove batch, or take "
                    "loader: shuffle for batches of nodes",
                    plan.samples, plan.batch));
  if (plan.turns != 1)
    throw InputError(
        "loader whole_graph gives every rank rows that lie together, but parallel lets ranks take turns; divide over "
        "one level of ranks, or remove parallel");
  auto all = all_nodes(data);
  const auto nodes = std::make_shared<const std::vector<std::int32_t>>(std::move(all.nodes));
  const std::int64_t rows = all.graph->nodes(), slices = plan.all_slices();
  batch_.samples = std::ssize(*nodes);
  for (std::int64_t own = 0; own < slices / plan.ranks; ++own) {
    const std::int64_t k = plan.slice_number(own);
    auto sample = std::make_shared<train::Sample>();
    sample->id = k;
    sample->storage = make_storage(
        WholeGraph{all.graph, nodes, rows * k / slices, rows * (k + 1) / slices, own, slices / plan.ranks});
    batch_.slices.push_back({std::move(sample)});
  }
}

train::Batch WholeGraphLoader::batch(std::int64_t step) {
  train::Batch out = batch_;
  out.step = step, out.epoch = plan_.epoch_of(step);
  counts_.samples += batch_.samples, counts_.from_buffer += batch_.samples;
  return out;
}

}  // namespace cambium::graph
