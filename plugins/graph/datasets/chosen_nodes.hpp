#pragma once
#include "core/train/kinds/dataset.hpp"
#include "plugins/graph/graphs/samples.hpp"

namespace cambium::graph {

/// Node nodes[id] of a graph as a sample: "label" (int32) and, if `samples` have them, "features" (float32).
train::SamplePtr node_sample(const std::shared_ptr<const NodeSamples>& samples, std::int64_t id);

/// The graph of a data set and the nodes of all its samples, ascending. InputError with the text `refusal` if samples
/// are not nodes of a graph; no graph if there are no samples.
struct AllNodes {
  GraphPtr graph;
  std::shared_ptr<const std::vector<std::int32_t>> nodes;
};
AllNodes all_nodes(train::Dataset& data, const std::string& refusal);

/// Nodes with this role and a known class, ascending; for a partitioned graph, only the local ones.
std::vector<std::int32_t> nodes_with(const Graph& graph, Role role);

/// Some nodes of a graph that is already in memory.
class ChosenNodes : public train::Dataset {
 public:
  ChosenNodes(GraphPtr graph, std::vector<std::int32_t> nodes)
      : samples_(make_storage(NodeSamples{std::move(graph), std::move(nodes), {}})) {}
  void open(Context&) override {}
  std::int64_t size() const override { return std::ssize(samples_->nodes); }
  std::vector<train::FieldInfo> fields() const override { return {{"label", "", {}, DType::i32}}; }
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override {
    std::vector<train::SamplePtr> out;
    for (const auto id : ids) out.push_back(node_sample(samples_, id));
    return out;
  }

 private:
  std::shared_ptr<const NodeSamples> samples_;
};

}  // namespace cambium::graph
