// Time of list building and force kernels, in ns per owned atom, on this machine. Prints one line per case; atoms and
// ghosts are ordered as the domain decomposition orders them.
#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <functional>

#include "core/particles/neighbors.hpp"
#include "plugins/md/domain/domain.hpp"
#include "plugins/md/potentials/lennard_jones.hpp"
#include "plugins/md/potentials/stillinger_weber.hpp"
#include "plugins/md/potentials/sutton_chen.hpp"
#include "tests/periodic.hpp"

using namespace cambium;
using namespace cambium::test;

namespace {

/// Processor time of this thread: other programs then disturb less.
double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

/// Best of `repeats` runs, in ns per atom.
double best_ns(int atoms, int repeats, const std::function<void()>& run) {
  double best = 1e300;
  for (int r = 0; r < repeats; ++r) {
    const double begin = cpu_seconds();
    run();
    best = std::min(best, cpu_seconds() - begin);
  }
  return best * 1e9 / atoms;
}

/// A rattled crystal of `cells` cubic cells of edge `a` in every direction, as one rank holds it.
struct Sample {
  Particles particles;
  md::Domain domain;

  Sample(const Comm& comm, double a, int cells, const std::vector<Position>& basis, double amplitude,
         const char* symbol)
      : domain(comm, Box::orthogonal(cells * a, cells * a, cells * a)) {
    auto positions = lattice(a, {cells, cells, cells}, basis);
    rattle(positions, amplitude, 1);
    Particles& p = particles;
    p.box = Box::orthogonal(cells * a, cells * a, cells * a);
    p.species = {{symbol, 1.0}};
    p.nlocal = static_cast<int>(positions.size());
    p.nglobal = p.nlocal;
    p.reserve(p.nlocal);
    auto x = Kokkos::create_mirror_view(p.x);
    auto tag = Kokkos::create_mirror_view(p.tag);
    for (int i = 0; i < p.nlocal; ++i) {
      for (int k = 0; k < 3; ++k) x(i, k) = positions[i][k];
      x(i, 3) = 0.0;
      tag(i) = i + 1;
    }
    Kokkos::deep_copy(p.x, x);
    Kokkos::deep_copy(p.tag, tag);
  }
};

void bench(const char* name, Sample sample, Potential& potential, double skin, Context& context) {
  Particles& p = sample.particles;
  potential.bind(p.species);
  const double range = potential.cutoff() + skin;
  auto prepare = [&] {
    sample.domain.migrate(p);
    sample.domain.borders(p, range);
  };
  NeighborList list;
  prepare();
  const double domain = best_ns(p.nlocal, 20, prepare);
  const double build = best_ns(p.nlocal, 50, [&] { build_neighbors(p, potential.cutoff(), skin, list); });
  ForceOutput out;
  out.f = p.f;
  auto force = [&](bool totals) {
    return best_ns(p.nlocal, 100, [&] { potential.compute(p, list, sample.domain, {totals, false}, out, context); });
  };
  const double forces = force(false), totals = force(true);
  const double forward = best_ns(p.nlocal, 100, [&] { sample.domain.forward_positions(p); });
  std::printf(
      "%-14s forces %6.1f  with totals %6.1f  list %6.1f  domain %6.1f  forward %5.1f ns/atom; %.1f neighbours, %.2f "
      "ghosts per atom\n",
      name, forces, totals, build, domain, forward, static_cast<double>(list.pairs) / p.nlocal,
      static_cast<double>(p.nghost) / p.nlocal);
}

void run_all() {
  Comm comm;
  Log log;
  Timing timing;
  Context context{comm, log, timing};
  const double sigma = 3.405, spacing = sigma * std::cbrt(4.0 / 0.8442);
  auto argon = [&] { return Sample(comm, spacing, 20, fcc_basis, 0.15 * sigma, "Ar"); };
  md::LennardJones::Params lj;
  lj.epsilon = 0.0103;
  lj.sigma = sigma;
  lj.cutoff = 2.5 * sigma;
  md::LennardJones plain(lj, context);
  bench("argon plain", argon(), plain, 0.3 * sigma, context);
  lj.truncation = Truncation::smooth;
  md::LennardJones smooth(lj, context);
  bench("argon smooth", argon(), smooth, 0.3 * sigma, context);
  md::SuttonChen::Params cu;
  cu.element = "Cu";
  md::SuttonChen copper(cu, context);
  bench("copper 7.22", Sample(comm, 3.7, 20, fcc_basis, 0.25, "Cu"), copper, 0.5, context);
  md::StillingerWeber silicon({}, context);
  bench("silicon", Sample(comm, 5.431, 16, diamond_basis, 0.25, "Si"), silicon, 1.0, context);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    Kokkos::ScopeGuard kokkos(argc, argv);
    run_all();
  }
  MPI_Finalize();
}
