#pragma once
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/potential.hpp"
#include "core/train/kinds/buffer.hpp"
#include "core/train/optimizers/groups.hpp"

namespace cambium::train {

/// Inputs of one step. All buffers have the same layout; gradients are of the mean loss of the global batch. Split
/// weights may be given as bf16 (only the upper halves), with gradients in float32.
struct Update {
  FlatBuffer& weights;
  const FlatBuffer& gradients;
  std::span<FlatBuffer> states;  ///< one per Optimizer::states(), zero at the start
  double rate = 0.0;             ///< learning rate of this step
  std::int64_t step = 1;         ///< counted from 1
};

/// Updates weights from gradients. Its state between steps is in the states and in kept(), which the trainer stores in
/// checkpoints. Bitwise reproducible: the order of arithmetic does not depend on ranks.
class Optimizer {
 public:
  using Kind = Optimizer;
  static constexpr std::string_view kind = "optimizer";
  struct StateInfo {
    std::string name;  ///< such as "momentum"
    DType dtype;       ///< bf16 means 16 raw bits
  };
  virtual ~Optimizer() = default;
  virtual std::vector<StateInfo> states(DType weights) const = 0;
  /// Called once, with initial weights: initialises the optimizer from them (split weights are truncated here).
  virtual void start(FlatBuffer& /*weights*/, std::span<FlatBuffer> /*states*/) {}
  virtual void step(const Update& update) = 0;
  /// True if every weight depends only on its own gradient and states, so a step may be made in parts.
  virtual bool elementwise() const { return true; }
  /// True if every tensor depends only on its own gradient and states, so a step may be made tensor by tensor.
  virtual bool by_tensor() const { return true; }
  /// True if gradients of successive steps are compared: all must be of the same samples.
  virtual bool full_batch() const { return false; }
  /// Index, among states(), of the weights that are validated, exported and kept as the best ones, if they differ from
  /// the weights at which gradients are computed.
  virtual std::optional<std::size_t> served_state() const { return {}; }
  /// Additional state that a resumed run passes to take(), the same on every rank; none by default.
  virtual std::vector<double> kept() const { return {}; }
  virtual void take(std::span<const double> /*kept*/) {}
  /// Parameters with their own keys; none by default.
  virtual std::span<const ParameterGroup> groups() const { return {}; }
  virtual std::vector<Citation> citations() const { return {}; }
};

/// Makes the states of an optimizer, zeroed.
std::vector<FlatBuffer> make_states(const Optimizer& optimizer, const FlatLayout& layout, DType weights);

namespace detail {
/// Calls f.operator()<T>(k, decay) for every tensor in T, the type of the weights.
template <class F>
void for_each_tensor(const FlatBuffer& weights, F&& f) {
  const auto& tensors = weights.layout().tensors();
  with_real(weights.dtype(), [&]<class T>() {
    for (std::size_t k = 0; k < tensors.size(); ++k) f.template operator()<T>(k, tensors[k].info.decay);
  });
}
}  // namespace detail

}  // namespace cambium::train
