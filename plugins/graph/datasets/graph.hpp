#pragma once
#include <optional>

#include "core/train/kinds/dataset.hpp"
#include "plugins/graph/graphs/edge_text.hpp"
#include "plugins/graph/graphs/made_graph.hpp"
#include "plugins/graph/graphs/samples.hpp"

namespace cambium::graph {

/// Nodes of one graph as samples, with the field "label" (int32, a class); on demand also "features" (float32), for
/// networks that know nothing of the graph. Every rank holds the graph, or, `divided`, its part.
class GraphSet : public train::Dataset {
 public:
  enum class Nodes { training, validation, test, labelled };
  struct Params : EdgeTextKeys {
    std::string file, edges, labels;
    std::int64_t count = 0;
    bool directed = false;
    std::optional<MadeGraph> made;
    Nodes nodes = Nodes::training;
    bool features = false, divided = false;
    static void describe(deck::Describe<Params>& d);
  };
  GraphSet(const Params& params, Context&) : params_(params) {}

  void open(Context&) override;
  std::int64_t size() const override { return samples_ ? std::ssize(samples_->nodes) : 0; }
  std::vector<train::FieldInfo> fields() const override;
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override;
  std::vector<Citation> citations() const override;

 private:
  Params params_;
  std::shared_ptr<const NodeSamples> samples_;
};

}  // namespace cambium::graph
