#pragma once
#include "core/numerics/width.hpp"

namespace cambium::deepmd {

/// Channels that one work item processes: a register on the host, one value on a device.
template <class T>
constexpr int lanes = width_of<ExecSpace, T>;
template <class T>
using Lane = Pack<T, lanes<T>>;

/// Length of a row of `n` values, padded to full packs.
template <class T>
constexpr int padded(int n) {
  return (n + lanes<T> - 1) / lanes<T> * lanes<T>;
}
template <class T>
constexpr int packs(int n) {
  return (n + lanes<T> - 1) / lanes<T>;
}

/// Stores the first `count` values of a pack (all of them if count >= the pack's width).
template <class T>
CAMBIUM_FN void store_some(Lane<T> x, T* out, int count) {
  if (count >= lanes<T>)
    x.store(out);
  else
    for (int k = 0; k < count; ++k) out[k] = x[k];
}

}  // namespace cambium::deepmd
