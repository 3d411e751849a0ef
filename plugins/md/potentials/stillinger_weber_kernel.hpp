#pragma once
#include "core/pair/lanes.hpp"
#include "core/pair/outside_forces.hpp"
#include "plugins/md/potentials/stillinger_weber_functions.hpp"

namespace cambium::md {

/// Forces of one central atom on itself and its neighbours, for any number of neighbours: their functions of distance
/// are computed twice, for the moments and for the gradient. One thread per atom on a device; lanes are neighbours.
template <class P, Outputs outputs, bool standard>
struct StillingerWeberKernel {
  static constexpr bool energies = outputs != Outputs::forces;
  using Functions = StillingerWeberFunctions<P, standard>;
  using Leg = typename Functions::Leg;
  using Moments = typename Functions::Moments;

  Functions functions;
  int nlocal, sentinel;
  const double* x;
  const std::int64_t* offset;
  const int* count;
  const int* index;
  double* f;
  double* atom_energy;
  double* atom_virial;
  /// If the atoms are one of several parts: the rows of this part, and its contributions to other rows.
  int own_first = 0, own_last = 0;
  std::vector<OutsideForces::Given>* outside = nullptr;

  StillingerWeberKernel(const StillingerWeber::Params& params, const Particles& particles, const NeighborList& list,
                        const ForceOutput& out)
      : functions(params), nlocal(particles.nlocal), sentinel(particles.sentinel()), x(particles.x.data()),
        offset(list.offset.data()), count(list.count.data()), index(list.index.data()), f(out.f.data()),
        atom_energy(out.atom_energy.data()), atom_virial(out.atom_virial.data()) {}

  KOKKOS_FUNCTION void operator()(int i) const {
    PairSums unused;
    atom(i, unused);
  }
  KOKKOS_FUNCTION void operator()(int i, PairSums& sums) const { atom(i, sums); }

  /// Accumulated force and virial of the central atom during the loop over its neighbours.
  struct Own {
    P force[3] = {0.0, 0.0, 0.0};
    P virial[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};

    /// Adds neighbours at d, on which the triplets act with -g.
    CAMBIUM_FN void add(const Leg& leg, P dx, P dy, P dz, const typename Functions::Vector& g) {
      force[0] += fma(leg.pair_slope, leg.ux, g.x);
      force[1] += fma(leg.pair_slope, leg.uy, g.y);
      force[2] += fma(leg.pair_slope, leg.uz, g.z);
      if constexpr (energies) {
        const P half = P(-0.5) * leg.pair_slope;  // the other half of the pair belongs to the neighbour
        const P tx = fma(half, leg.ux, -g.x), ty = fma(half, leg.uy, -g.y), tz = fma(half, leg.uz, -g.z);
        virial[0] = fma(tx, dx, virial[0]);
        virial[1] = fma(ty, dy, virial[1]);
        virial[2] = fma(tz, dz, virial[2]);
        virial[3] = fma(tx, dy, virial[3]);
        virial[4] = fma(tx, dz, virial[4]);
        virial[5] = fma(ty, dz, virial[5]);
      }
    }
  };

  /// Adds to the force on a row.
  CAMBIUM_FN void give(int row, double fx, double fy, double fz) const {
    double* const to = f + 3 * static_cast<std::int64_t>(row);
    if constexpr (device_is_host) {
      if (outside) {
        if (row >= own_first && row < own_last) {
          to[0] += fx;
          to[1] += fy;
          to[2] += fz;
        } else
          outside->push_back({row, {fx, fy, fz}});
        return;
      }
    }
    add_to(to, fx);
    add_to(to + 1, fy);
    add_to(to + 2, fz);
  }

  CAMBIUM_FN void finish(int i, const Own& own, double energy, PairSums& sums) const {
    give(i, sum(own.force[0]), sum(own.force[1]), sum(own.force[2]));
    if constexpr (energies) {
      double w[6];
      sums.v[0] += energy;
      for (int k = 0; k < 6; ++k) {
        w[k] = sum(own.virial[k]);
        sums.v[1 + k] += w[k];
      }
      if constexpr (outputs == Outputs::per_atom) {
        atom_energy[i] += energy;
        add_symmetric(atom_virial + 9 * static_cast<std::int64_t>(i), w);
      }
    }
  }

  KOKKOS_FUNCTION void atom(int i, PairSums& sums) const {
    const double* center = x + 4 * static_cast<std::int64_t>(i);
    const int* j = index + offset[i];
    const int n = count[i];
    Moments m;
    P pair = 0.0, squares = 0.0, d[3], radial_pair;
    for (int k = 0; k < n; k += P::width) {
      const Leg leg = make_leg(center, j + k, d, radial_pair);
      Functions::add_to_moments(leg, m);
      if constexpr (energies) {
        pair += radial_pair;
        squares = fma(leg.weight, leg.weight, squares);
      }
    }
    Functions::spread(m);
    Own own;
    for (int k = 0; k < n; k += P::width) {
      const Leg leg = make_leg(center, j + k, d, radial_pair);
      const auto g = functions.triplet_gradient(leg, m);
      own.add(leg, d[0], d[1], d[2], g);
      push_neighbors(j + k, n - k, g);
    }
    finish(i, own, energies ? 0.5 * sum(pair) + functions.triplet_energy(m, sum(squares)) : 0.0, sums);
  }

 private:
  CAMBIUM_FN Leg make_leg(const double* center, const int* j, P* d, P& pair) const {
    const auto other = gather_rows<P>(x, j);
    d[0] = other.x - P(center[0]);
    d[1] = other.y - P(center[1]);
    d[2] = other.z - P(center[2]);
    const auto f = functions.radial(fma(d[0], d[0], fma(d[1], d[1], d[2] * d[2])));
    pair = f.pair;
    return {d[0] * f.inverse_r, d[1] * f.inverse_r, d[2] * f.inverse_r, f.inverse_r, f.weight, f.slope, f.pair_slope};
  }

  CAMBIUM_FN void push_neighbors(const int* j, int n, const typename Functions::Vector& g) const {
    double lanes[3][P::width];
    g.x.store(lanes[0]);
    g.y.store(lanes[1]);
    g.z.store(lanes[2]);
    for (int k = 0; k < (n < P::width ? n : P::width); ++k) give(j[k], -lanes[0][k], -lanes[1][k], -lanes[2][k]);
  }
};

}  // namespace cambium::md
