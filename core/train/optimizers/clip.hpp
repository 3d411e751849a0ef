#pragma once
#include <optional>

#include "core/deck/describe.hpp"
#include "core/train/kinds/buffer.hpp"

namespace cambium::train {

/// Bounds on the gradient before the step (bounded_gradient.hpp): first on every element, then on the norm of the
/// whole.
struct Clip {
  std::optional<double> norm, value;
  static void describe(deck::Describe<Clip>& d) {
    d("norm", &Clip::norm, "maximum norm of the global gradient; larger gradients are scaled down to it").positive();
    d("value", &Clip::value, "largest size of each element").positive();
    d.check([](const Clip& clip) -> std::string {
      return clip.norm || clip.value ? "" : "names no bound: give norm, value or both, for example clip: {norm: 1}";
    });
  }
};

/// Exponential moving average of the weights, which validation and the exported model then use.
struct Average {
  double decay = 0.999;
  std::int64_t from = 0;
  static void describe(deck::Describe<Average>& d) {
    d("decay", &Average::decay, "decay rate per step of the exponential moving average (EMA)")
        .range(0.0, 1.0)
        .def(0.999);
    d("start_step", &Average::from, "step from which averaging begins").formerly("from").at_least(0).def(0);
  }

  /// average <- decay average + (1 - decay) weights; up to step `from` the weights themselves.
  void update(FlatBuffer& average, const FlatBuffer& weights, std::int64_t step) const;
};

}  // namespace cambium::train
