#pragma once
#include "core/parallel/kokkos.hpp"

namespace cambium {

/// N values that a parallel_reduce sums together: `Kokkos::Sum<Sums<7>>(result)`.
template <int N>
struct Sums {
  double v[N] = {};
  KOKKOS_INLINE_FUNCTION Sums& operator+=(const Sums& other) {
    for (int k = 0; k < N; ++k) v[k] += other.v[k];
    return *this;
  }
};

}  // namespace cambium

template <int N>
struct Kokkos::reduction_identity<cambium::Sums<N>> {
  KOKKOS_FORCEINLINE_FUNCTION static cambium::Sums<N> sum() { return {}; }
};
