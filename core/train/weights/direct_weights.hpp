#pragma once
#include "core/train/kinds/whole_copy.hpp"
#include "core/train/weights/data_parallel.hpp"
#include "core/train/weights/direct_tensors.hpp"
#include "core/train/weights/flips.hpp"

namespace cambium::train {

/// Direct quantised training with low-bit weights replicated on all ranks. Files contain the weights in float32, with
/// values on the grids, and the grids' steps.
class DirectWeights : public Weights {
 public:
  /// Collective. The optimizer must outlive this. `seed`: for rounding. InputError as require_direct().
  DirectWeights(const DirectParams& direct, const ReduceParams& reduce, std::uint64_t seed, const Comm& comm,
                const Network& network, Optimizer& optimizer);

  const FlatLayout& layout() const override { return parallel_.layout; }
  std::vector<Optimizer::StateInfo> states() const override { return optimizer_.states(DType::f32); }
  Communication& communication() override { return *parallel_.reducer; }
  void start(const Use& fill) override;
  void start_on(std::span<const Grid> grids, const Use& fill) override;
  std::vector<Grid> grids() const override { return tensors_.grids(); }
  void begin(int slices) override;
  Pass pass() override;
  void skip() override;
  void finish() override;
  double update(const StepNumbers& numbers) override;
  void whole(const Use& use) override;
  void keep_best() override { tensors_.keep_best(); }
  void whole_best(const Use& use) override;
  Snapshot save(bool with_best) override;
  void load(const std::function<void(Snapshot&)>& read) override;
  std::vector<io::Column> columns() const override { return Flips::columns(); }
  std::vector<double> figures(std::int64_t steps) override;
  std::vector<std::string> report() override;

 private:
  WholeCopy copy() { return WholeCopy::of(parallel_.layout, DType::f32, tensors_.memory()); }
  double share(double count) const { return count / static_cast<double>(tensors_.linear_numbers()); }

  DataParallel parallel_;
  Optimizer& optimizer_;
  DirectTensors tensors_;
  std::vector<Counted> counted_;  ///< gradients and states
  Flips flips_;
};

}  // namespace cambium::train
