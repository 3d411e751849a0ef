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

/// True if this build's default back end has a memory that the host cannot reach.
bool kernels_have_own_memory();
/// The name of that back end, such as "Cuda".
std::string kernels_run_on();

/// The work of MlpLayers and mlp_loss.hpp, by kernels of the default back end in its memory (T is double or float).
/// With weights of the host a batch goes up in one block, weights when they may have changed, gradients come down once
/// a call, layer by layer, and of the loss one number. Memory is made for the largest batch so far and kept.
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

  /// Where the host writes the next batch: rows x inputs; behind them where `with_targets` rows x outputs, or the class
  /// of each row (exact up to 2^24 in float).
  std::span<T> block(int rows, bool with_targets);
  /// From here on weights in the same place are the same ones until the next call, and go up once; false: each time.
  void weights_stay(bool stay);
  void forward(std::span<const TensorRef> weights, const ReadyCallback& ready = {});
  /// For the last forward pass, on the host: rows x outputs.
  const std::vector<T>& outputs();
  /// Sum over the rows of the loss, whose derivative times `weight` backward() takes up.
  double loss(double weight);
  /// Adds the gradient to memory of the host.
  void backward(std::span<const TensorRef> gradients, const ReadyCallback& ready);

  // The same with weights and gradients that lie on the device: nothing passes and nothing is waited for.

  /// Where kernels write a batch, as block() says.
  T* room(int rows);
  /// Brings the block that the host wrote.
  void bring_block();
  /// `changed`: since the last call.
  void forward_there(std::span<const TensorRef> weights, bool changed);
  /// `sum`: on the device.
  void start_loss(double weight, double* sum);
  /// Adds the gradient, or writes it over what is there.
  void backward_there(std::span<const TensorRef> gradients, bool add);

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

/// Memory of an mlp on the device between calls, and which weights lie there.
class MlpOnDevice {
 public:
  /// Cache about weights until the next begin(): nothing, or that they stay during a step or an evaluation.
  enum class Weights { change, of_step, of_evaluation };
  void begin(Weights weights);
  /// For a call that uses weights of that kind: others than begin() announced go up anew.
  template <class T>
  DeviceMlpLayers<T>& layers(const Mlp::Params& params, const MlpShape& shape, Weights use);
  /// The passes, made at the first call.
  template <class T>
  DeviceMlpLayers<T>& passes(const Mlp::Params& params, const MlpShape& shape);
  /// True if this is the first question, and nothing went up, since begin().
  bool first() { return std::exchange(fresh_, false); }
  void forget() { double_.reset(), float_.reset(), samples.reset(); }

  std::unique_ptr<ResidentRows> samples;  ///< a training's, where they lie there: inputs, targets
  bool kept_off = false;                  ///< a training found its steps too small

 private:
  Weights weights_ = Weights::change;
  bool fresh_ = true;  ///< begin() was called since weights went up
  std::unique_ptr<DeviceMlpLayers<double>> double_;
  std::unique_ptr<DeviceMlpLayers<float>> float_;
};

extern template class DeviceMlpLayers<double>;
extern template class DeviceMlpLayers<float>;

}  // namespace cambium::train
