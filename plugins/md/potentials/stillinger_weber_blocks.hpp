#pragma once
#include <limits>

#include "plugins/md/potentials/stillinger_weber_kernel.hpp"

namespace cambium::md {

/// Host version of StillingerWeberKernel: a few consecutive atoms at a time, in stages over the list of all their pairs
/// within reach. Each stage is a loop of independent packs, which keeps the pipelines full, whereas one atom at a time
/// would wait for every result; and functions of distance fill all lanes.
template <class P, Outputs outputs, bool standard>
struct StillingerWeberBlocks {
  static constexpr bool energies = outputs != Outputs::forces;
  static constexpr int atoms_per_block = 16;
  static constexpr int max_pairs = 256;  // so that the arrays fit into the L1 cache
  using Kernel = StillingerWeberKernel<P, outputs, standard>;
  using Leg = typename Kernel::Leg;

  Kernel kernel;

  /// Pairs within reach of the atoms of a block, atom after atom.
  struct Pairs {
    static constexpr int room = max_pairs + P::width;
    int start[atoms_per_block + 1];
    alignas(64) int j[room];
    alignas(64) double dx[room], dy[room], dz[room];
    alignas(64) double inverse_r[room], weight[room], slope[room], pair[room], pair_slope[room];
    alignas(64) double gx[room], gy[room], gz[room];
  };

  void operator()(int block) const {
    PairSums unused;
    run(block, unused);
  }
  void operator()(int block, PairSums& sums) const { run(block, sums); }

 private:
  void run(int block, PairSums& sums) const {
    Pairs pairs;
    int i = block * atoms_per_block;
    const int last = i + atoms_per_block < kernel.nlocal ? i + atoms_per_block : kernel.nlocal;
    while (i < last) {
      const int atoms = collect(i, last, pairs);
      if (atoms == 0) {  // more neighbours than the arrays can hold
        kernel.atom(i++, sums);
        continue;
      }
      const int n = pairs.start[atoms];
      radial_functions(n, pairs);
      for (int a = 0; a < atoms; ++a) angular_part(i + a, pairs.start[a], pairs.start[a + 1], pairs, sums);
      push_neighbors(n, pairs);
      i += atoms;
    }
  }

  /// Lists the pairs of atoms first, first+1, ... below `last` as long as they fit; returns the number of atoms listed.
  CAMBIUM_FN int collect(int first, int last, Pairs& pairs) const {
    const P limit = kernel.functions.reach_squared;
    int n = 0;
    for (int i = first; i < last; ++i) {
      pairs.start[i - first] = n;
      const double* center = kernel.x + 4 * static_cast<std::int64_t>(i);
      const P px = center[0], py = center[1], pz = center[2];
      const int* j = kernel.index + kernel.offset[i];
      const int* const end = j + kernel.count[i];
      for (; j < end; j += P::width) {
        if (n > max_pairs - P::width) return i - first;
        const auto other = gather_rows<P>(kernel.x, j);
        const P dx = other.x - px, dy = other.y - py, dz = other.z - pz;
        const auto near = fma(dx, dx, fma(dy, dy, dz * dz)) < limit;
        compress_store(pairs.dx + n, dx, near);
        compress_store(pairs.dy + n, dy, near);
        compress_store(pairs.dz + n, dz, near);
        n += compress_store(pairs.j + n, j, near);
      }
    }
    pairs.start[last - first] = n;
    return last - first;
  }

  CAMBIUM_FN void radial_functions(int n, Pairs& pairs) const {
    P(kernel.functions.cutoff).store(pairs.dx + n);  // padding, so that the last pack has finite values
    P(0.0).store(pairs.dy + n);
    P(0.0).store(pairs.dz + n);
    for (int k = 0; k < n; k += P::width) {
      const P dx = P::load(pairs.dx + k), dy = P::load(pairs.dy + k), dz = P::load(pairs.dz + k);
      const auto f = kernel.functions.radial(fma(dx, dx, fma(dy, dy, dz * dz)));
      f.inverse_r.store(pairs.inverse_r + k);
      f.weight.store(pairs.weight + k);
      f.slope.store(pairs.slope + k);
      f.pair_slope.store(pairs.pair_slope + k);
      if constexpr (energies) f.pair.store(pairs.pair + k);
    }
  }

  CAMBIUM_FN static Leg load_leg(const Pairs& pairs, int k, typename P::Mask mine, P* d) {
    d[0] = P::load(pairs.dx + k);
    d[1] = P::load(pairs.dy + k);
    d[2] = P::load(pairs.dz + k);
    // After the last pair of a block the stack is uninitialised: zero times that may be NaN.
    const P inverse_r = keep(mine, P::load(pairs.inverse_r + k));
    return {d[0] * inverse_r,
            d[1] * inverse_r,
            d[2] * inverse_r,
            inverse_r,
            keep(mine, P::load(pairs.weight + k)),
            keep(mine, P::load(pairs.slope + k)),
            keep(mine, P::load(pairs.pair_slope + k))};
  }

  /// Moments and gradients of atom i, whose pairs are first..last-1.
  CAMBIUM_FN void angular_part(int i, int first, int last, Pairs& pairs, PairSums& sums) const {
    typename Kernel::Moments m;
    P pair = 0.0, squares = 0.0, d[3];
    for (int k = first; k < last; k += P::width) {
      const auto mine = P::Mask::first(last - k);
      const Leg leg = load_leg(pairs, k, mine, d);
      Kernel::Functions::add_to_moments(leg, m);
      if constexpr (energies) {
        pair += keep(mine, P::load(pairs.pair + k));
        squares = fma(leg.weight, leg.weight, squares);
      }
    }
    Kernel::Functions::spread(m);
    typename Kernel::Own own;
    for (int k = first; k < last; k += P::width) {
      const Leg leg = load_leg(pairs, k, P::Mask::first(last - k), d);
      const auto g = kernel.functions.triplet_gradient(leg, m);
      own.add(leg, d[0], d[1], d[2], g);
      // Lanes beyond `last` are zero, and are overwritten by the next atom.
      g.x.store(pairs.gx + k);
      g.y.store(pairs.gy + k);
      g.z.store(pairs.gz + k);
    }
    const double energy = energies ? 0.5 * sum(pair) + kernel.functions.triplet_energy(m, sum(squares)) : 0.0;
    kernel.finish(i, own, energy, sums);
  }

  CAMBIUM_FN void push_neighbors(int n, const Pairs& pairs) const {
    for (int k = 0; k < n; ++k) kernel.give(pairs.j[k], -pairs.gx[k], -pairs.gy[k], -pairs.gz[k]);
  }
};

/// Runs the blocks of each thread's part of the atoms.
template <class Blocks>
struct StillingerWeberParts {
  Blocks blocks;
  OutsideForces* outside;

  void operator()(int part) const {
    run(part, [&](const Blocks& mine, int block) { mine(block); });
  }
  void operator()(int part, PairSums& sums) const {
    run(part, [&](const Blocks& mine, int block) { mine(block, sums); });
  }

 private:
  template <class F>
  void run(int part, F&& f) const {
    Blocks mine = blocks;
    const int first = outside->first(part), last = outside->first(part + 1);
    const bool alone = outside->parts() == 1, to_the_end = part + 1 == outside->parts();  // ghosts follow all atoms
    mine.kernel.own_first = first;
    mine.kernel.own_last = to_the_end ? std::numeric_limits<int>::max() : last;
    mine.kernel.outside = alone && one_thread ? nullptr : &outside->of(part);
    for (int i = first; i < last; i += Blocks::atoms_per_block) f(mine, i / Blocks::atoms_per_block);
  }
};

}  // namespace cambium::md
