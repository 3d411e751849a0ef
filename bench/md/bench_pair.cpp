#include "bench/md/bench_pair.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/md/outside_forms.hpp"
#include "core/parallel/context.hpp"
#include "core/parallel/ghost_exchange.hpp"
#include "core/particles/lattice.hpp"
#include "core/particles/neighbors.hpp"
#include "plugins/md/potentials/lennard_jones.hpp"

namespace cambium::md {

namespace {

constexpr double epsilon = 0.010323, sigma = 3.405;  // argon: eV, Å
constexpr double range = 2.5 * sigma, skin = 0.3 * sigma;
/// Position of Morse's minimum, with the depth, position and curvature of Lennard-Jones': 2 D a^2 = 72 epsilon / r0^2.
const double well = std::cbrt(std::sqrt(2.0)) * sigma;
const MorseFormula::Params morse{epsilon, 6.0 / well, well, range, {}};

/// A free cluster has no ghosts.
struct NoGhosts : GhostExchange {
  void forward(View<double*>) override {}
  void reverse_add(View<double* [3]>) override {}
  void reverse_add(View<double* [9]>) override {}
};

/// A free piece of a disordered crystal at the density of liquid argon, with its list.
struct Cluster {
  Particles particles;
  NeighborList list;

  Cluster(int cells, Context& context) {
    LatticeSpec spec;
    spec.a = sigma * std::cbrt(4.0 / 0.8442);
    spec.cells = {cells, cells, cells};
    spec.species = {"Ar"};
    spec.displacement = 0.15 * sigma;
    particles = particles_of(make_lattice(spec, context.comm, 1));
    particles.place_sentinel();
    build_neighbors(particles, range, skin, list);
  }
};

/// CPU time of this process, which other programs disturb less than wall time.
double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// One potential on the cluster, and the best time of its calls.
struct Timed {
  Potential& potential;
  const Cluster& cluster;
  Context& context;
  ForceOutput out;
  double forces = 1e300, totals = 1e300;  ///< ns per listed pair

  Timed(Potential& p, const Cluster& c, Context& x) : potential(p), cluster(c), context(x) {
    potential.bind(cluster.particles.species);
    out.f = View<double* [3]>("bench_forces", cluster.particles.capacity());
  }

  double call(bool with_totals) {
    NoGhosts ghosts;
    Kokkos::deep_copy(out.f, 0.0);
    out.energy = 0.0;
    const double start = cpu_seconds();
    potential.compute(cluster.particles, cluster.list, ghosts, {with_totals, false}, out, context);
    Kokkos::fence();
    return 1e9 * (cpu_seconds() - start) / static_cast<double>(cluster.list.pairs);
  }
  void turn() {
    forces = std::min(forces, call(false));
    totals = std::min(totals, call(true));
  }
};

/// Morse's energy by a plain sum over all listed pairs, eV.
double plain_energy(const Cluster& c) {
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c.particles.x);
  const auto offset = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c.list.offset);
  const auto count = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c.list.count);
  const auto index = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c.list.index);
  const auto energy = [](double r) {
    return morse.depth * (std::pow(1.0 - std::exp(-morse.width * (r - morse.distance)), 2) - 1.0);
  };
  double sum = 0.0;
  for (int i = 0; i < c.particles.nlocal; ++i)
    for (int k = 0; k < count(i); ++k) {
      const int j = index(offset(i) + k);
      const double r = std::hypot(x(i, 0) - x(j, 0), x(i, 1) - x(j, 1), x(i, 2) - x(j, 2));
      if (r < range) sum += 0.5 * (energy(r) - energy(range));
    }
  return sum;
}

nlohmann::json measure_pair(const BenchOptions& options, Context& context) {
  const Cluster cluster(options.integer("cells"), context);
  LennardJones::Params params;
  params.epsilon = epsilon;
  params.sigma = sigma;
  params.cutoff = range;
  params.truncation = Truncation::shift;
  LennardJones lennard_jones(params, context);
  PairPotential<OutsideForm<TwelveSixFormula>> twin({epsilon, sigma, range}, context);
  PairPotential<OutsideForm<MorseFormula>> exponential(morse, context);
  MorseFormula::Params with_table = morse;
  with_table.table.emplace();
  PairPotential<OutsideForm<MorseFormula>> tabulated(with_table, context);
  Timed built_in(lennard_jones, cluster, context), outside(twin, cluster, context),
      other(exponential, cluster, context), looked_up(tabulated, cluster, context);
  for (int turn = 0; turn < std::max(1, options.integer("turns")); ++turn) {
    built_in.turn();
    outside.turn();
    other.turn();
    looked_up.turn();
  }

  nlohmann::json out;
  out["pairs"] = cluster.list.pairs;
  const auto report = [&](const std::string& name, const Timed& timed) {
    out[name + "_ns"] = timed.forces;
    out[name + "_totals_ns"] = timed.totals;
    context.log.info(fmt::format("{:<16} {:.3f} ns per listed pair, {:.3f} with energy and virial", name, timed.forces,
                                 timed.totals));
  };
  report("lennard_jones", built_in);
  report("outside", outside);
  report("morse", other);
  report("morse_table", looked_up);
  out["ratio"] = outside.forces / built_in.forces;
  out["totals_ratio"] = outside.totals / built_in.totals;
  out["morse_ratio"] = other.forces / built_in.forces;
  out["morse_totals_ratio"] = other.totals / built_in.totals;
  out["morse_table_ratio"] = looked_up.forces / built_in.forces;
  out["morse_table_totals_ratio"] = looked_up.totals / built_in.totals;
  context.log.info(tabulated.summary());
  const double error = std::abs(other.out.energy / plain_energy(cluster) - 1.0);
  const double table_error = std::abs(looked_up.out.energy / plain_energy(cluster) - 1.0);
  const double twins = std::abs(outside.out.energy / built_in.out.energy - 1.0);
  out["check"] = fmt::format(
      "{}: Morse's energy differs from a plain sum by {:.1e}, by {:.1e} with a table, that of Lennard-Jones from the "
      "same formula outside by {:.1e} (relative)",
      std::max(error, twins) < 1e-11 && table_error < 1e-7 ? "ok" : "WRONG", error, table_error, twins);
  return out;
}

}  // namespace

Bench bench_pair() {
  return {"pair",
          "time per pair of Lennard-Jones, of the same formula as a plugin outside the tree writes it, and of Morse's, "
          "with "
          "and without a table",
          measure_pair,
          {{"cells", "cubic cells of four atoms along each edge of the cluster", 12},
           {"turns", "calls of each potential, one after the other, of which the fastest counts", 200}},
          {"turns=100"}};
}

}  // namespace cambium::md
