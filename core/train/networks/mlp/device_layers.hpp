#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/train/networks/mlp/mlp.hpp"
#include "core/train/weights/resident_rows.hpp"

namespace cambium::train {

/// True if the default back end of this build has memory that the host cannot access.
bool kernels_have_own_memory();
/// Name of that back end, such as "Cuda".
std::string kernels_run_on();

/// Device version of MlpLayers and mlp_loss.hpp, in the memory of the default back end (T is double or float). With
/// host weights, a batch is copied to the device as one block, weights if they may have changed; gradients are copied
/// back once per call, layer by layer, and the loss as one value. Memory is allocated for the largest batch so far and
/// kept.
template <class T>
class DeviceMlpLayers {
 public:
  struct Kind {
    Mlp::Activation activation;
    bool bfloat16, classes;  ///< classes: the loss is the cross entropy, else the squared error
    double smoothing;
  };
  DeviceMlpLayers(MlpShape shape, const Kind& kind);
  ~DeviceMlpLayers();

  /// Host buffer of the next batch: rows x inputs; if `with_targets`, followed by rows x outputs or by the class of
  /// each row (exact up to 2^24 in float).
  std::span<T> block(int rows, bool with_targets);
  /// true: weights at the same address are unchanged until the next call, and copied once; false: copied every time.
  void weights_stay(bool stay);
  void forward(std::span<const TensorRef> weights, const ReadyCallback& ready = {});
  /// Outputs of the last forward pass, on the host: rows x outputs.
  const std::vector<T>& outputs();
  /// Sum of the loss over rows; backward() uses its derivative times `weight`.
  double loss(double weight);
  /// Adds the gradient to host memory.
  void backward(std::span<const TensorRef> gradients, const ReadyCallback& ready);

  // The same with weights and gradients on the device: without copies or synchronisation.

  /// Device buffer of a batch, with the layout of block().
  T* room(int rows);
  /// Copies the block that the host wrote.
  void bring_block();
  /// `changed`: weights changed since the last call.
  void forward_there(std::span<const TensorRef> weights, bool changed);
  /// `sum`: on the device.
  void start_loss(double weight, double* sum);
  /// Adds the gradient, or overwrites `gradients` if not `add`.
  void backward_there(std::span<const TensorRef> gradients, bool add);

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

/// Device memory of an mlp between calls, and the weights cached there.
class MlpOnDevice {
 public:
  /// Assumption about weights until the next begin(): they change, or stay constant during a step or an evaluation.
  enum class Weights { change, of_step, of_evaluation };
  void begin(Weights weights);
  /// For a call that uses weights of this kind: kinds other than announced by begin() are copied again.
  template <class T>
  DeviceMlpLayers<T>& layers(const Mlp::Params& params, const MlpShape& shape, Weights use);
  /// The forward and backward passes, created at the first call.
  template <class T>
  DeviceMlpLayers<T>& passes(const Mlp::Params& params, const MlpShape& shape);
  /// True if this is the first query since begin(), with nothing copied since.
  bool first() { return std::exchange(fresh_, false); }
  void forget() { double_.reset(), float_.reset(), samples.reset(); }

  std::unique_ptr<ResidentRows> samples;  ///< training samples, if resident: inputs, targets
  bool kept_off = false;                  ///< training steps were too small for the device

 private:
  Weights weights_ = Weights::change;
  bool fresh_ = true;  ///< begin() was called since weights were copied
  std::unique_ptr<DeviceMlpLayers<double>> double_;
  std::unique_ptr<DeviceMlpLayers<float>> float_;
};

extern template class DeviceMlpLayers<double>;
extern template class DeviceMlpLayers<float>;

}  // namespace cambium::train
