#pragma once
#include <optional>

#include "core/train/kinds/dataset.hpp"
#include "plugins/graph/graphs/edge_text.hpp"
#include "plugins/graph/links/made_links.hpp"
#include "plugins/graph/links/samples.hpp"

namespace cambium::graph {

/// Links as samples, with the fields "user" and "item" (int32): the training or the held-out ones. Replicated on every
/// rank.
class LinkSet : public train::Dataset {
 public:
  struct Params : EdgeTextKeys {
    std::string file, edges, held_out_edges, validation_edges;
    std::optional<MadeLinks> made;
    bool bipartite = true, tuning = false, held_out = false;
    std::optional<bool> train_on_validation;
    std::int64_t users = 0, items = 0, seed = 1;
    double hold_out = 0.2;
    static void describe(deck::Describe<Params>& d);
  };
  LinkSet(const Params& params, Context&) : params_(params) {}

  void open(Context&) override;
  std::int64_t size() const override { return samples_ ? samples_->links().entries() : 0; }
  std::vector<train::FieldInfo> fields() const override {
    return {{"user", "", {}, DType::i32}, {"item", "", {}, DType::i32}};
  }
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override;

 private:
  Params params_;
  std::shared_ptr<const LinkSamples> samples_;
};

}  // namespace cambium::graph
