#pragma once
// Products of one atom's matrices with one interval's coefficients: `terms` rows of `stride` values in full registers,
// zero beyond the width. Moments and the like are K x terms.
#include "plugins/deepmd/training/buffer.hpp"
#include "plugins/deepmd/training/hermite.hpp"

namespace cambium::deepmd::runs {

constexpr int terms = Hermite::terms;

/// The powers 1 .. t^7 of one row, or one value for each of them.
template <class T>
using Terms = Pack<T, terms>;

/// Exponents 0 .. 7: multiplied by the lower powers they give the derivatives of the powers.
template <class T>
inline Terms<T> exponents() {
  alignas(64) T n[terms];
  for (int j = 0; j < terms; ++j) n[j] = static_cast<T>(j);
  return Terms<T>::load(n);
}

/// a_k += sum_j moment_kj coefficient_j.
template <class T, int K>
inline void add_sums(const T* moment, const T* coefficient, int stride, int width, T* a) {
  using P = HostPack<T>;
  for (int m = 0; m < width; m += P::width) {
    P sum[K];
    for (int k = 0; k < K; ++k) sum[k] = P::load(a + k * stride + m);
#pragma GCC unroll 8
    for (int j = 0; j < terms; ++j) {
      const P g = P::load(coefficient + j * stride + m);
      for (int k = 0; k < K; ++k) sum[k] = fma(g, P(moment[k * terms + j]), sum[k]);
    }
    for (int k = 0; k < K; ++k) sum[k].store(a + k * stride + m);
  }
}

template <class Q>
auto total_of(Q q) {
  return sum(q);
}  // for functions in which an array is named sum

/// dots_kj = p_k . coefficient_j.
template <class T, int K>
inline void products(const T* p, const T* coefficient, int stride, int width, T* dots) {
  using P = HostPack<T>;
  constexpr int half = terms / 2;  // as many sums as fit into the registers
  for (int from = 0; from < terms; from += half) {
    P sum[K][half];
    for (auto& row : sum)
      for (P& s : row) s = T(0);
    for (int m = 0; m < width; m += P::width)
#pragma GCC unroll 4
      for (int j = 0; j < half; ++j) {
        const P g = P::load(coefficient + (from + j) * stride + m);
        for (int k = 0; k < K; ++k) sum[k][j] = fma(g, P::load(p + k * stride + m), sum[k][j]);
      }
    for (int k = 0; k < K; ++k)
      for (int j = 0; j < half; ++j) dots[k * terms + from + j] = total_of(sum[k][j]);
  }
}

/// bar_j += sum_k moment_kj a_bar_k + change_kj p_k: the adjoint of both sums that an interval contributes to.
template <class T, int K>
inline void add_adjoints(const T* moment, const T* change, const T* a_bar, const T* p, int stride, int width, T* bar) {
  using P = HostPack<T>;
  for (int m = 0; m < width; m += P::width) {
    P above[K], along[K];
    for (int k = 0; k < K; ++k) {
      above[k] = P::load(a_bar + k * stride + m);
      along[k] = P::load(p + k * stride + m);
    }
#pragma GCC unroll 8
    for (int j = 0; j < terms; ++j) {
      P sum = P::load(bar + j * stride + m);
      for (int k = 0; k < K; ++k)
        sum = fma(above[k], P(moment[k * terms + j]), fma(along[k], P(change[k * terms + j]), sum));
      sum.store(bar + j * stride + m);
    }
  }
}

}  // namespace cambium::deepmd::runs
