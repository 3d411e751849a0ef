#pragma once
#include "core/deck/describe.hpp"
#include "core/train/kinds/loader.hpp"
#include "plugins/graph/graphs/samples.hpp"

namespace cambium::graph {

/// Full-batch training on one graph: every step uses all samples of a data set `graph`. A slice (micro-batch) is a
/// range of the graph's rows, not of the samples: slice k of s has the nodes [n k / s, n (k + 1) / s). The network
/// evaluates the full graph, each rank its rows, and each slice accumulates the gradient contributions of its rows.
/// Therefore no slice is empty, and in ordered mode sums do not depend on the number of ranks. The gradient is divided
/// by the number of samples on all ranks.
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
