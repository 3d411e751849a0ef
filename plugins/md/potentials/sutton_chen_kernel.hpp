#pragma once
#include <cmath>

#include "core/pair/pair_kernel.hpp"
#include "plugins/md/potentials/sutton_chen.hpp"

namespace cambium::md {

/// base^exponent by repeated squaring; the exponent is the same in all lanes and threads.
template <class P>
CAMBIUM_FN P integer_power(P base, int exponent) {
  P result = 1.0;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return result;
}

/// Exponents known at compile time, or read from the parameters (both 0).
template <int fixed_n, int fixed_m>
struct Exponents {
  CAMBIUM_FN static int n(const SuttonChen::Numbers& s) { return fixed_n > 0 ? fixed_n : s.n; }
  CAMBIUM_FN static int m(const SuttonChen::Numbers& s) { return fixed_m > 0 ? fixed_m : s.m; }

  /// (a/r)^m.
  template <class P>
  CAMBIUM_FN static P density(const SuttonChen::Numbers& s, P r2) {
    if constexpr (fixed_m > 0 && fixed_m % 2 == 0) return integer_power(P(s.a * s.a) * reciprocal(r2), fixed_m / 2);
    return integer_power(P(s.a) * reciprocal_sqrt(r2), m(s));
  }
};

/// rho of every owned atom; writes the slope of its embedding energy, E = -eps c sqrt(rho).
template <class P, Outputs outputs, class Exponents>
struct SuttonChenDensity {
  SuttonChen::Numbers s;
  double tail_rho;   ///< density from beyond the cut-off
  double pair_tail;  ///< energy per atom of the pair term from there
  const double* x;
  const std::int64_t* offset;
  const int* count;
  const int* index;
  double* slope;
  double* atom_energy;
  double* atom_virial;

  KOKKOS_FUNCTION void operator()(int i) const {
    PairSums unused;
    atom(i, unused);
  }
  KOKKOS_FUNCTION void operator()(int i, PairSums& sums) const { atom(i, sums); }

 private:
  CAMBIUM_FN void atom(int i, PairSums& sums) const {
    const double* xi = x + 4 * static_cast<std::int64_t>(i);
    const P px = xi[0], py = xi[1], pz = xi[2];
    const int* j = index + offset[i];
    const int* const end = j + count[i];
    P rho = 0.0;
    for (; j < end; j += P::width) {
      const auto other = gather_rows<P>(x, j);
      const P dx = px - other.x, dy = py - other.y, dz = pz - other.z;
      const P r2 = fma(dx, dx, fma(dy, dy, dz * dz));
      P weight, unused;
      s.smooth(r2, weight, unused);  // 0 from the cut-off on
      rho = fma(weight, Exponents::density(s, r2), rho);
    }
    const double root = std::sqrt(sum(rho) + tail_rho);
    slope[i] = root > 0.0 ? -0.5 * s.epsilon * s.c / root : 0.0;
    if constexpr (outputs != Outputs::forces) {
      const double energy = pair_tail - s.epsilon * s.c * root;
      // Both tails are proportional to 1/V, so the negative of their strain derivative equals the tail itself.
      const double pressure = pair_tail + slope[i] * tail_rho;
      sums.v[0] += energy;
      for (int k = 0; k < 3; ++k) sums.v[1 + k] += pressure;
      if constexpr (outputs == Outputs::per_atom) {
        atom_energy[i] += energy;
        for (int k = 0; k < 3; ++k) atom_virial[9 * static_cast<std::int64_t>(i) + 4 * k] += pressure;
      }
    }
  }
};

/// Force of a pair for PairKernel: its own energy, and both atoms' embedding.
template <class Exponents>
struct SuttonChenPair {
  SuttonChen::Numbers s;
  const double* slope;

  struct Row {
    double slope;
  };
  CAMBIUM_FN Row row(int i, int) const { return {slope[i]}; }

  template <bool energies, class P>
  CAMBIUM_FN void pair(const Row& row, P r2, const int* j, P, P& f_over_r, P& energy) const {
    const P inverse_r = reciprocal_sqrt(r2), inverse_r2 = inverse_r * inverse_r;
    const P ratio = P(s.a) * inverse_r;
    const int n = Exponents::n(s), m = Exponents::m(s);
    const P density = integer_power(ratio, m), repulsion = density * integer_power(ratio, n - m);
    P weight, weight_slope;
    s.smooth(r2, weight, weight_slope);
    const P by_rho = P(row.slope) + P::lookup(slope, j);
    // -(1/r) d/dr of weight (eps repulsion + by_rho density)
    const P strong = P(s.epsilon) * repulsion, soft = by_rho * density;
    f_over_r = weight * inverse_r2 * fma(P(n), strong, P(m) * soft) - weight_slope * (strong + soft);
    if constexpr (energies) energy = weight * strong;
  }
};

}  // namespace cambium::md
