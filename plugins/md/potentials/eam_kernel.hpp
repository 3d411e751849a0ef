#pragma once
#include "core/pair/pair_kernel.hpp"
#include "plugins/md/eam/cubic_table.hpp"
#include "plugins/md/potentials/eam.hpp"

namespace cambium::md {

/// Members of Eam::Tables used by the kernels.
struct EamRows {
  const double *embedding, *density, *pair;
  int types, nrho, nr;
  double inverse_drho, inverse_dr, drho, cutoff2;

  explicit EamRows(const Eam::Tables& t)
      : embedding(t.embedding.data()), density(t.density.data()), pair(t.pair.data()), types(t.types), nrho(t.nrho),
        nr(t.nr), inverse_drho(t.inverse_drho), inverse_dr(t.inverse_dr), drho(t.drho), cutoff2(t.cutoff * t.cutoff) {}

  /// First row of the table (a, b) among the tables of distance.
  template <class P>
  CAMBIUM_FN P first(P a, P b) const {
    return fma(a, P(static_cast<double>(types)), b) * P(nr - 1.0);
  }
};

/// rho of every owned atom; writes the slope of its embedding energy and adds that energy.
template <class P, Outputs outputs, bool one_species>
struct EamDensity {
  EamRows tables;
  const double* x;
  const std::int64_t* offset;
  const int* count;
  const int* index;
  double* slope;
  double* atom_energy;

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
      const auto inside = r2 < P(tables.cutoff2);
      const CubicPlace<P> place(sqrt(r2), tables.inverse_dr, tables.nr);
      P first = 0.0;
      if constexpr (!one_species) first = tables.first(other.type, P(xi[3]));
      rho += keep(inside, place.read(tables.density, first).value);
    }
    embed(i, static_cast<int>(xi[3]), sum(rho), sums);
  }

  CAMBIUM_FN void embed(int i, int type, double rho, PairSums& sums) const {
    using One = Pack<double, 1>;
    const CubicPlace<One> place(One(rho > 0.0 ? rho : 0.0), tables.inverse_drho, tables.nrho);
    const auto f = place.read(tables.embedding, One(type * (tables.nrho - 1.0)));
    slope[i] = f.slope.v;
    if constexpr (outputs != Outputs::forces) {
      const double beyond = rho - (tables.nrho - 1.0) * tables.drho;
      const double energy = f.value.v + (beyond > 0.0 ? f.slope.v * beyond : 0.0);
      sums.v[0] += energy;
      if constexpr (outputs == Outputs::per_atom) atom_energy[i] += energy;
    }
  }
};

/// Force of a pair for PairKernel: its own energy, and both atoms' embedding.
template <bool one_species>
struct EamPair {
  EamRows tables;
  const double* slope;

  struct Row {
    double slope, type;
  };
  CAMBIUM_FN Row row(int i, int type) const { return {slope[i], static_cast<double>(type)}; }

  template <bool energies, class P>
  CAMBIUM_FN void pair(const Row& row, P r2, const int* j, P type, P& f_over_r, P& energy) const {
    const auto inside = r2 < P(tables.cutoff2);
    const P inverse_r = reciprocal_sqrt(r2);
    const CubicPlace<P> place(sqrt(r2), tables.inverse_dr, tables.nr);
    P here = 0.0, there = 0.0;  // tables (i, j) and (j, i)
    if constexpr (!one_species) {
      here = tables.first(P(row.type), type);
      there = tables.first(type, P(row.type));
    }
    const auto z = place.read(tables.pair, here);
    const P phi = z.value * inverse_r;
    P strength = fma(z.slope, inverse_r, -(phi * inverse_r));  // dphi/dr
    const P other_slope = P::lookup(slope, j);
    if constexpr (one_species) {
      strength = fma(P(row.slope) + other_slope, place.read(tables.density, here).slope, strength);
    } else {
      strength = fma(P(row.slope), place.read(tables.density, there).slope, strength);
      strength = fma(other_slope, place.read(tables.density, here).slope, strength);
    }
    f_over_r = keep(inside, -(strength * inverse_r));
    if constexpr (energies) energy = keep(inside, phi);
  }
};

}  // namespace cambium::md
