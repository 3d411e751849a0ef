#include "plugins/graph/datasets/chosen_nodes.hpp"

#include <algorithm>
#include <numeric>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"

namespace cambium::graph {

train::SamplePtr node_sample(const std::shared_ptr<const NodeSamples>& samples, std::int64_t id) {
  auto sample = std::make_shared<train::Sample>();
  const auto& graph = *samples->graph;
  const auto node = static_cast<std::size_t>(samples->nodes[id]);
  sample->id = id;
  sample->storage = samples;
  sample->bytes = 4;
  sample->fields["label"] = io::tensor_of(&graph.labels[node], {});
  if (!samples->features.empty()) {
    const auto width = graph.features.columns;
    sample->fields["features"] = io::tensor_of(samples->features.data() + id * width, {width});
    sample->bytes += 4 * width;
  }
  return sample;
}

AllNodes all_nodes(train::Dataset& data, const std::string& refusal) {
  AllNodes out{nullptr, std::make_shared<const std::vector<std::int32_t>>()};
  const auto nodes_of = [&](const train::Sample& sample) {
    const auto* nodes = storage_of<NodeSamples>(sample);
    if (!nodes) throw InputError(refusal);
    return nodes;
  };
  const std::int64_t size = data.size();
  if (size == 0) return out;
  const std::int64_t zero[] = {0};
  const auto first = data.read(zero).front();
  const auto* whole = nodes_of(*first);
  out.graph = whole->graph;
  if (std::ssize(whole->nodes) == size && std::is_sorted(whole->nodes.begin(), whole->nodes.end())) {
    out.nodes = {first->storage, &whole->nodes};
    return out;
  }
  constexpr std::int64_t most = 4096;  // samples at a time: they are much larger than their node indices
  auto nodes = std::make_shared<std::vector<std::int32_t>>();
  for (std::int64_t begin = 0; begin < size; begin += most) {
    std::vector<std::int64_t> ids(std::min(most, size - begin));
    std::iota(ids.begin(), ids.end(), begin);
    for (const auto& sample : data.read(ids)) nodes->push_back(nodes_of(*sample)->nodes[sample->id]);
  }
  std::sort(nodes->begin(), nodes->end());
  out.nodes = std::move(nodes);
  return out;
}

std::vector<std::int32_t> nodes_with(const Graph& graph, Role role) {
  std::vector<std::int32_t> out;
  const auto here = graph.here();
  for (auto i = here.begin; i < here.end; ++i)
    if (graph.roles[i - here.begin] == role && graph.labels[i] >= 0) out.push_back(static_cast<std::int32_t>(i));
  return out;
}

}  // namespace cambium::graph
