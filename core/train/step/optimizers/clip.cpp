#include "core/train/step/optimizers/clip.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cambium::train {

void Clip::describe(deck::Describe<Clip>& d) {
  d("norm", &Clip::norm, "largest norm of the whole gradient; a larger one is scaled down").positive();
  d("value", &Clip::value, "largest size of each element").positive();
  d.check([](const Clip& clip) -> std::string {
    return clip.norm || clip.value ? "" : "names no bound: give norm, value or both, for example clip: {norm: 1}";
  });
}

double Clip::apply(FlatBuffer& gradients) const {
  if (value)
    with_real(gradients.dtype(), [&]<class T>() {
      const T bound = static_cast<T>(*value);
      for (T& g : gradients.values<T>()) g = std::clamp(g, -bound, bound);
    });
  if (!norm) return std::numeric_limits<double>::quiet_NaN();
  double square = 0.0;
  for (double s : squared_norms(gradients)) square += s;
  const double before = std::sqrt(square);
  if (before > *norm) scale(gradients, *norm / before);
  return before;
}

void Average::describe(deck::Describe<Average>& d) {
  d("decay", &Average::decay, "share of the average that each step keeps").range(0.0, 1.0).def(0.999);
  d("from", &Average::from, "step from which averaging begins").at_least(0).def(0);
}

void Average::update(FlatBuffer& average, const FlatBuffer& weights, std::int64_t step) const {
  if (step <= from) return average.copy_from(weights);
  with_real(weights.dtype(), [&]<class T>() {
    const T keep = static_cast<T>(decay), take = static_cast<T>(1.0 - decay);
    const auto w = weights.values<T>();
    const auto a = average.values<T>();
    for (std::size_t k = 0; k < a.size(); ++k) a[k] = std::fma(keep, a[k], take * w[k]);
  });
}

}  // namespace cambium::train
