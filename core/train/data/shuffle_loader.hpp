#pragma once
#include "core/deck/describe.hpp"
#include "core/train/kinds/loader.hpp"

namespace cambium::train {

/// Reads each batch on request and caches nothing.
class ShuffleLoader : public Loader {
 public:
  struct Params {
    static void describe(deck::Describe<Params>&) {}
  };
  ShuffleLoader(const Params&, Context&) {}

  void open(Dataset& data, const BatchPlan& plan, Context&) override;
  Batch batch(std::int64_t step) override;
  std::optional<BatchNumbers> numbers(std::int64_t step) override;
  LoaderCounts counts() const override;

 private:
  std::vector<SamplePtr> read(std::span<const std::int64_t> ids);

  Dataset* data_ = nullptr;
  BatchPlan plan_;
  std::int64_t epoch_ = -1;          ///< of order_
  std::vector<std::int64_t> order_;  ///< empty for computed permutations
  LoaderCounts counts_;
};

}  // namespace cambium::train
