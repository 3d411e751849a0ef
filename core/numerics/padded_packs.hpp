#pragma once
#include <algorithm>
#include <cstdint>

#include "core/base/pack.hpp"

namespace cambium {

/// Values of one cache line, the unit in which padded arrays are processed.
template <class T>
using LinePack = Pack<T, static_cast<int>(64 / sizeof(T))>;

/// f(k, count) for the values k .. k + count - 1 of 0..n-1, a pack at a time; the last may be smaller. With load_some()
/// and store_some() every value passes through the same instructions, so it does not depend on where an array begins or
/// is split.
template <class T, class F>
void by_packs(std::int64_t n, const F& f) {
  constexpr int width = static_cast<int>(64 / sizeof(T));
  std::int64_t k = 0;
  for (; k + width <= n; k += width) f(k, width);
  if (k < n) f(k, static_cast<int>(n - k));
}

/// The first `count` of a pack from x, then zeros.
template <class T>
LinePack<T> load_some(const T* x, int count) {
  constexpr int width = static_cast<int>(64 / sizeof(T));
  if (count == width) return LinePack<T>::load(x);
  T part[width] = {};
  std::copy_n(x, count, part);
  return LinePack<T>::load(part);
}

/// The first `count` of a pack to y.
template <class T>
void store_some(LinePack<T> value, T* y, int count) {
  constexpr int width = static_cast<int>(64 / sizeof(T));
  if (count == width) return value.store(y);
  T part[width];
  value.store(part);
  std::copy_n(part, count, y);
}

}  // namespace cambium
