#pragma once
#include <optional>

#include "core/deck/describe.hpp"
#include "core/train/kinds/dataset.hpp"
#include "plugins/sequence/datasets/made_language.hpp"

namespace cambium::sequence {

/// Texts of a Grammar, generated in memory: fields "text" (bytes) and "surprise" (nats of each byte from the second on,
/// a lower bound for the mean of any model). Text k is a function of (seed, k); `first` skips texts, so that sets do
/// not overlap.
class SyntheticGrammar : public train::Dataset {
 public:
  struct Params {
    std::int64_t samples = 0, length = 65, first = 0, seed = 1;
    int classes = 8, words = 16, depth = 2;
    static void describe(deck::Describe<Params>& d);
  };
  SyntheticGrammar(const Params& params, Context&);

  void open(Context& context) override;
  std::int64_t size() const override { return params_.samples; }
  std::vector<train::FieldInfo> fields() const override;
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override;

 private:
  train::SamplePtr make(std::int64_t id) const;
  Params params_;
  Grammar grammar_;
};

}  // namespace cambium::sequence
