#pragma once
#include <optional>

#include "core/deck/describe.hpp"
#include "core/train/kinds/buffer.hpp"

namespace cambium::train {

/// Gradient clipping before the step (bounded_gradient.hpp): first by value, then by the global norm.
struct Clip {
  std::optional<double> norm, value;
  static void describe(deck::Describe<Clip>& d) {
    d("norm", &Clip::norm,
      "maximum norm of the global gradient, of all parameters that are not frozen (optimizer.groups); larger gradients "
      "are scaled down to it")
        .positive();
    d("value", &Clip::value, "largest absolute value of each element").positive();
    d.check([](const Clip& clip) -> std::string {
      return clip.norm || clip.value ? "" : "names no bound: give norm, value or both, for example clip: {norm: 1}";
    });
  }
};

/// Exponential moving average of the weights, used for validation and the exported model.
struct Average {
  double decay = 0.999;
  std::int64_t from = 0;
  static void describe(deck::Describe<Average>& d) {
    d("decay", &Average::decay, "decay rate per step of the exponential moving average (EMA)")
        .non_negative()
        .less_than(1.0)
        .def(0.999);
    d("start_step", &Average::from, "step from which averaging begins").formerly("from").at_least(0).def(0);
  }

  /// average <- decay average + (1 - decay) weights; up to step `from` a copy of the weights.
  void update(FlatBuffer& average, const FlatBuffer& weights, std::int64_t step) const;
};

}  // namespace cambium::train
