#include "core/train/step/optimizers/clip.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cambium::train {

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
