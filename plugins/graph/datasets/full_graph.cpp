#include "plugins/graph/datasets/full_graph.hpp"

#include <fmt/format.h>

#include "core/base/key_error.hpp"
#include "plugins/graph/datasets/chosen_nodes.hpp"

namespace cambium::graph {

void FullGraphLoader::open(train::Dataset& data, const train::BatchPlan& plan, Context&) {
  plan_ = plan;
  if (plan.batch != plan.samples)
    throw KeyError(
        "loader.full_graph.batch", "",
        fmt::format("loader full_graph brings all {} samples at every step, but batch is {}; remove batch, or take "
                    "loader: shuffle for batches of nodes",
                    plan.samples, plan.batch));
  if (plan.turns != 1)
    throw InputError(
        "loader full_graph gives every rank contiguous rows, but parallel interleaves the ranks; divide over one level "
        "of ranks, or remove parallel");
  if (plan.all_slices() % plan.ranks != 0)
    throw InputError(
        fmt::format("loader full_graph gives every rank as many rows of the graph, and {} ranks do not divide the {} "
                    "slices of reduce.mode ordered; start a power of two of ranks, or take reduce.mode fast",
                    plan.ranks, plan.all_slices()));
  const auto all = all_nodes(data, "loader full_graph brings nodes of a graph; give a dataset of type graph");
  const std::int64_t rows = all.graph->nodes(), slices = plan.all_slices();
  batch_.samples = std::ssize(*all.nodes);
  for (std::int64_t own = 0; own < slices / plan.ranks; ++own) {
    const std::int64_t k = plan.slice_number(own);
    auto sample = std::make_shared<train::Sample>();
    sample->id = k;
    sample->storage = make_storage(
        WholeGraph{all.graph, all.nodes, rows * k / slices, rows * (k + 1) / slices, own, slices / plan.ranks});
    batch_.slices.push_back({std::move(sample)});
  }
}

train::Batch FullGraphLoader::batch(std::int64_t step) {
  train::Batch out = batch_;
  out.step = step;
  out.epoch = plan_.epoch_of(step);
  counts_.samples += batch_.samples;
  counts_.from_buffer += batch_.samples;
  return out;
}

}  // namespace cambium::graph
