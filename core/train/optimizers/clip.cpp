#include "core/train/optimizers/clip.hpp"

#include <cmath>

namespace cambium::train {

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
