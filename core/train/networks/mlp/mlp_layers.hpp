#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "core/numerics/aligned_buffer.hpp"
#include "core/train/networks/mlp/mlp.hpp"

namespace cambium::train {

/// Parameters of a fully connected network of these widths (inputs, hidden layers, outputs): for layer l the weights
/// "layers.<l>.w", n_in x n_out, then the biases "layers.<l>.b", n_out. `may_round`: the weights may be quantised.
std::vector<ParameterInfo> mlp_parameters(std::span<const std::int64_t> widths, bool may_round = false);

/// Initial values of these parameters, in T: weights are normal with variance 2 / (n_in + n_out) (Glorot and Bengio
/// 2010), or, if the activation `rectifies` (relu and its smooth forms), 2 / n_in (He et al. 2015), a function of
/// (seed, layer, element); biases are zero. Views without memory are skipped.
template <class T>
void initialise_mlp(std::span<const TensorRef> weights, std::span<const std::int64_t> widths, std::uint64_t seed,
                    bool rectifies = false);

/// Forward and backward passes of a fully connected network in T, batch x width row-major, on all threads. Weights of
/// layer l are n_in x n_out ("layers.<l>.w") and n_out ("layers.<l>.b").
template <class T>
class MlpLayers {
 public:
  /// `bfloat16` rounds the inputs of each product to bfloat16; sums stay in T. `coded` weights replace full ones in
  /// forward(). Layers that are `plain`, and the last one, have no activation.
  MlpLayers(std::span<const std::int64_t> widths, Mlp::Activation activation, bool bfloat16,
            std::span<const TensorRef> weights, const CodedWeights* coded = nullptr, std::vector<bool> plain = {});

  /// Outputs for `rows` inputs, stored with everything that backward() needs.
  const std::vector<T>& forward(std::vector<T> inputs, int rows, const ReadyCallback& ready = {});
  /// Adds the gradient of a loss, given its derivative by the outputs.
  void backward(std::vector<T> by_output, std::span<const TensorRef> gradients, const ReadyCallback& ready);

 private:
  int in(std::size_t l) const { return static_cast<int>(widths_[l]); }
  int out(std::size_t l) const { return static_cast<int>(widths_[l + 1]); }
  std::size_t layers() const { return widths_.size() - 1; }

  bool is_plain(std::size_t l) const { return l < plain_.size() && plain_[l]; }
  const T* input(std::size_t l) const { return l == 0 ? given_.data() : inputs_[l].data(); }
  const T* weights_of(std::size_t l);
  void add_up(std::size_t l);  ///< sums before the activation
  void apply_activation(std::size_t l);

  std::span<const std::int64_t> widths_;
  std::vector<bool> plain_;
  Mlp::Activation activation_;
  bool bfloat16_;
  const CodedWeights* coded_;
  std::span<const TensorRef> weights_;  ///< views have memory while their layer is in use
  std::vector<T> rounded_;              ///< weights of one layer in bfloat16
  int rows_ = 0;
  std::vector<T> given_, outputs_;
  std::vector<AlignedBuffer<T>> inputs_;  ///< of each layer but the first
  std::vector<AlignedBuffer<T>> sums_;    ///< of each layer, before the activation
};

extern template class MlpLayers<double>;
extern template class MlpLayers<float>;
extern template void initialise_mlp<double>(std::span<const TensorRef>, std::span<const std::int64_t>, std::uint64_t,
                                            bool);
extern template void initialise_mlp<float>(std::span<const TensorRef>, std::span<const std::int64_t>, std::uint64_t,
                                           bool);

}  // namespace cambium::train
