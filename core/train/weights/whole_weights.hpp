#pragma once
#include "core/train/weights/data_parallel.hpp"

namespace cambium::train {

/// Replicated weights in the network's precision, optionally with their moving average.
class WholeWeights : public Weights {
 public:
  /// Collective. The optimizer must outlive this.
  WholeWeights(const ReduceParams& reduce, const std::optional<Average>& average, const Comm& comm,
               const Network& network, Optimizer& optimizer);

  const FlatLayout& layout() const override { return parallel_.layout; }
  std::vector<Optimizer::StateInfo> states() const override { return optimizer_.states(weights_.dtype()); }
  Communication& communication() override { return *parallel_.reducer; }
  void start(const Use& fill) override;
  void begin(int slices) override;
  Pass pass() override;
  void skip() override;
  void finish() override;
  std::vector<double> squared_gradients() override { return squared_norms(parallel_.gradients); }
  bool keeps_gradients() const override { return true; }
  double update(const StepNumbers& numbers) override;
  void whole(const Use& use) override { use(served()); }
  void keep_best() override;
  void whole_best(const Use& use) override { use(best_); }
  Snapshot save(bool with_best) override;
  void load(const std::function<void(Snapshot&)>& read) override;

 private:
  /// Weights that are validated and exported.
  FlatBuffer& served();
  void make_best();

  DataParallel parallel_;
  Optimizer& optimizer_;
  std::optional<Average> averaging_;
  FlatBuffer weights_, average_, best_;
  std::vector<TensorRef> views_;  ///< of weights_
};

}  // namespace cambium::train
