#pragma once
#include "core/train/optimizers/device_update.hpp"
#include "core/train/weights/device_buffer.hpp"
#include "core/train/weights/weights.hpp"

namespace cambium::train {

/// Replicated weights in device memory, with their gradients, the optimizer's states, the average and the best weights.
/// pass() returns views of that memory; the first slice with samples overwrites the gradients, later ones add. On one
/// rank update() launches one kernel, and another one to bound the norm, asynchronously.
class DeviceWeights : public Weights {
 public:
  /// Collective. The optimizer must outlive this and have a device form: see device_form_of().
  DeviceWeights(const ReduceParams& reduce, const std::optional<Average>& average, const Comm& comm,
                const Network& network, Optimizer& optimizer);
  ~DeviceWeights() override;

  bool on_device() const override { return true; }
  const FlatLayout& layout() const override { return layout_; }
  std::vector<Optimizer::StateInfo> states() const override { return optimizer_.states(weights_type_); }
  Communication& communication() override { return *reducer_; }
  void start(const Use& fill) override;
  void begin(int /*slices*/) override { any_ = false; }
  Pass pass() override;
  void skip() override {}
  void finish() override;
  /// The norm stays on the device: returns NaN.
  double update(const StepNumbers& numbers) override;
  void whole(const Use& use) override;
  void keep_best() override;
  void whole_best(const Use& use) override;
  Snapshot save(bool with_best) override;
  void load(const std::function<void(Snapshot&)>& read) override;

 private:
  const DeviceBuffer& trained() const { return averaging_ ? average_ : weights_; }
  void sum_over_ranks();

  DType weights_type_;
  Mesh mesh_;
  FlatLayout layout_;
  std::unique_ptr<Reducer> reducer_;
  Optimizer& optimizer_;
  std::optional<Average> averaging_;
  DeviceBuffer weights_, gradients_, average_, best_;
  std::vector<DeviceBuffer> states_;
  std::vector<TensorRef> weight_views_, gradient_views_;
  bool any_ = false;   ///< this step had slices with samples
  FlatBuffer summed_;  ///< gradients in the reduction over ranks
  struct Small;        ///< flags of weight decay, and the norm
  std::unique_ptr<Small> small_;
};

/// The optimizer's device form; null if it has none.
const StepsOnDevice* device_form_of(const Optimizer& optimizer);

}  // namespace cambium::train
