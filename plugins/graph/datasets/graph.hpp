#pragma once
#include <optional>

#include "core/train/kinds/dataset.hpp"
#include "core/train/kinds/varies_by_member.hpp"
#include "plugins/graph/graphs/edge_text.hpp"
#include "plugins/graph/graphs/made_graph.hpp"
#include "plugins/graph/graphs/samples.hpp"

namespace cambium::graph {

/// Nodes of one graph as samples, with the field "label" (int32, a class); optionally also "features" (float32), for
/// networks that do not use the graph. Every rank holds the full graph or, if `divided`, its partition. If the file has
/// several splits and `split` is "each", network k of a committee uses split k.
class GraphSet : public train::Dataset, public train::VariesByMember {
 public:
  enum class Nodes { training, validation, test, labelled };
  struct Params : EdgeTextKeys {
    std::string file, edges, labels, split = "0";
    std::int64_t count = 0;
    bool directed = false;
    std::optional<MadeGraph> made;
    Nodes nodes = Nodes::training;
    bool features = false, divided = false;
    static void describe(deck::Describe<Params>& d);
  };
  GraphSet(const Params& params, Context&) : params_(params) {}

  void open(Context&) override;
  void take_member(int member) override { member_ = member; }
  bool sees_each_split() const { return params_.split == "each"; }
  std::int64_t size() const override { return samples_ ? std::ssize(samples_->nodes) : 0; }
  std::vector<train::FieldInfo> fields() const override;
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override;
  std::vector<Citation> citations() const override;

 private:
  std::int64_t split() const;
  GraphPtr read_whole() const;

  Params params_;
  int member_ = 0;
  std::shared_ptr<const NodeSamples> samples_;
};

}  // namespace cambium::graph
