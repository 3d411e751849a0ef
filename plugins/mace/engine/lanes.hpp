#pragma once
#include "core/base/pack.hpp"

namespace cambium::mace {

/// Calls f.operator()<P>(k) for the channels k .. k + P::width - 1 of 0 .. n - 1: first full registers, then single
/// values.
template <class T, class F>
CAMBIUM_HF void over_channels(int n, const F& f) {
  constexpr int w = native_width<T>;
  int k = 0;
  for (; k + w <= n; k += w) f.template operator()<Pack<T, w>>(k);
  if constexpr (w > 1)
    for (; k < n; ++k) f.template operator()<Pack<T, 1>>(k);
}

/// x += y.
template <class P>
CAMBIUM_HF void add_to(typename P::value_type* x, P y) {
  (P::load(x) + y).store(x);
}

}  // namespace cambium::mace
