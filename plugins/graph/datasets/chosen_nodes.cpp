#include "plugins/graph/datasets/chosen_nodes.hpp"

#include "core/io/hdf5/h5.hpp"

namespace cambium::graph {

train::SamplePtr node_sample(const std::shared_ptr<const NodeSamples>& samples, std::int64_t id) {
  auto sample = std::make_shared<train::Sample>();
  const auto& graph = *samples->graph;
  const auto node = static_cast<std::size_t>(samples->nodes[static_cast<std::size_t>(id)]);
  sample->id = id, sample->storage = samples, sample->bytes = 4;
  sample->fields["label"] = io::tensor_of(&graph.labels[node], {});
  if (!samples->features.empty()) {
    const auto width = graph.features.columns;
    sample->fields["features"] = io::tensor_of(samples->features.data() + id * width, {width});
    sample->bytes += 4 * width;
  }
  return sample;
}

std::vector<std::int32_t> nodes_with(const Graph& graph, Role role) {
  std::vector<std::int32_t> out;
  for (std::int32_t i = 0; i < graph.nodes(); ++i)
    if (graph.roles[static_cast<std::size_t>(i)] == role && graph.labels[static_cast<std::size_t>(i)] >= 0)
      out.push_back(i);
  return out;
}

}  // namespace cambium::graph
