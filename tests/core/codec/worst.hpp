#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace cambium {

/// Largest |x - y| of finite values as a multiple of the bound, in extended precision, because the difference of two
/// doubles rounds and must not hide an excess; infinite where a value that is not finite changed a bit.
template <class T>
long double worst(const std::vector<T>& x, const std::vector<T>& y, double bound) {
  long double most = 0.0L;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (std::memcmp(&x[k], &y[k], sizeof(T)) == 0) continue;
    if (!std::isfinite(x[k]) || !std::isfinite(y[k])) return std::numeric_limits<long double>::infinity();
    most = std::max(most, std::abs(static_cast<long double>(x[k]) - static_cast<long double>(y[k])));
  }
  return most > 0.0L ? most / static_cast<long double>(bound) : 0.0L;
}

}  // namespace cambium
