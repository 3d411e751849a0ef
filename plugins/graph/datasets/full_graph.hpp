#pragma once
#include "core/deck/describe.hpp"
#include "core/train/kinds/loader.hpp"
#include "plugins/graph/graphs/samples.hpp"

namespace cambium::graph {

/// Full-batch training on one graph: every step sees all samples of a data set `graph`. A slice is no share of the
/// samples but of the graph's rows, nodes [n k / s, n (k + 1) / s) for slice k of s: the network computes the whole
/// graph, every rank its rows, and each slice adds up what its rows contribute to the gradient. So no slice is empty,
/// and in ordered mode sums do not depend on the number of ranks. The gradient is divided by the number of samples on
/// all ranks.
class FullGraphLoader : public train::Loader {
 public:
  struct Params {
    static void describe(deck::Describe<Params>&) {}
  };
  FullGraphLoader(const Params&, Context&) {}

  void open(train::Dataset& data, const train::BatchPlan& plan, Context&) override;
  train::Batch batch(std::int64_t step) override;
  train::LoaderCounts counts() const override { return counts_; }

 private:
  train::BatchPlan plan_;
  train::Batch batch_;  ///< the same at every step
  train::LoaderCounts counts_;
};

}  // namespace cambium::graph
