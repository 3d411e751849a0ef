#include "core/train/networks/attention/exponentials.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/pack.hpp"
#include "core/base/pack_math.hpp"

namespace cambium::train {

template <class T>
void exponentials(T* x, std::int64_t n, T shift) {
  for (std::int64_t k = 0; k < n; ++k) x[k] = std::exp(x[k] - shift);
}

/// Packs, the last one padded, so that a number's exponential does not depend on its place.
template <>
void exponentials(double* x, std::int64_t n, double shift) {
  using P = Pack<double, 8>;
  const P by(shift);
  std::int64_t k = 0;
  for (; k + 8 <= n; k += 8) exp(P::load(x + k) - by).store(x + k);
  if (k == n) return;
  double rest[8] = {};
  std::copy(x + k, x + n, rest);
  exp(P::load(rest) - by).store(rest);
  std::copy(rest, rest + (n - k), x + k);
}

template void exponentials(float*, std::int64_t, float);

}  // namespace cambium::train
