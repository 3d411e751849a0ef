#include "core/train/networks/attention/exponentials.hpp"

#include <algorithm>

#include "core/base/pack.hpp"
#include "core/base/pack_math.hpp"

namespace cambium::train {

/// By packs of double, in which float loses nothing; the last one is padded.
template <class T>
void exponentials(T* x, std::int64_t n, T shift) {
  constexpr int width = 8;
  using P = Pack<double, width>;
  double part[width] = {};
  for (std::int64_t k = 0; k < n; k += width) {
    const auto count = std::min<std::int64_t>(width, n - k);
    for (std::int64_t i = 0; i < count; ++i) part[i] = static_cast<double>(x[k + i] - shift);
    exp(P::load(part)).store(part);
    for (std::int64_t i = 0; i < count; ++i) x[k + i] = static_cast<T>(part[i]);
  }
}

template void exponentials(double*, std::int64_t, double);
template void exponentials(float*, std::int64_t, float);

}  // namespace cambium::train
