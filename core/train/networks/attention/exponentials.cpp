#include "core/train/networks/attention/exponentials.hpp"

#include "core/base/pack.hpp"
#include "core/base/pack_math.hpp"

namespace cambium::train {

static constexpr int width = 8;

/// The first `count` values of a pack, in double, which is exact for float.
template <class T>
static void exponentials_of_pack(T* x, int count, T shift) {
  double part[width] = {};
  for (int i = 0; i < count; ++i) part[i] = static_cast<double>(x[i] - shift);
  exp(Pack<double, width>::load(part)).store(part);
  for (int i = 0; i < count; ++i) x[i] = static_cast<T>(part[i]);
}

template <class T>
void exponentials(T* x, std::int64_t n, T shift) {
  std::int64_t k = 0;
  for (; k + width <= n; k += width) exponentials_of_pack(x + k, width, shift);
  exponentials_of_pack(x + k, static_cast<int>(n - k), shift);
}

template void exponentials(double*, std::int64_t, double);
template void exponentials(float*, std::int64_t, float);

}  // namespace cambium::train
