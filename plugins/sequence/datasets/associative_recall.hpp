#pragma once
#include "core/deck/describe.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium::sequence {

/// Associative-recall texts: pairs of a key and a value, one byte each, at random positions among blanks, then single
/// keys, each followed by its value. The keys of a text are distinct; values are drawn independently, so that only the
/// pair determines the answer. Bytes: 0 a blank, then keys, values and pairs (key by key). Fields: "text", "answer" (1
/// for every byte from the second on that is the value after a key, else 0) and "surprise" (nats of the same bytes: all
/// texts have equal probability, so that the conditional probability of each byte is known). Text k is a function of
/// (seed, k); `first` skips texts, so that sets do not overlap.
class AssociativeRecall : public train::Dataset {
 public:
  struct Params {
    std::int64_t samples = 0, length = 64, first = 0, seed = 1;
    int pairs = 8, queries = 8, keys = 16, values = 8;
    static void describe(deck::Describe<Params>& d);
  };
  AssociativeRecall(const Params& params, Context&);

  void open(Context& context) override;
  std::int64_t size() const override { return params_.samples; }
  std::vector<train::FieldInfo> fields() const override;
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override;

 private:
  train::SamplePtr make(std::int64_t id) const;
  Params params_;
};

}  // namespace cambium::sequence
