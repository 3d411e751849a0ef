// The force is minus the gradient of the energy, and the virial its derivative by a strain of the cell: checked by
// central differences on a small cluster.
#include <array>
#include <functional>
#include <vector>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#include "core/parallel/random.hpp"
#include "core/particles/neighbors.hpp"
#include "my_pair.hpp"

using namespace cambium;
using cambium::my_pair::MyPair;

namespace {

using Positions = std::vector<std::array<double, 3>>;

struct NoGhosts : GhostExchange {
  void forward(View<double*>) override {}
  void reverse_add(View<double* [3]>) override {}
  void reverse_add(View<double* [9]>) override {}
};

struct World {
  Comm comm;
  Log log;
  Timing timing;
  Context context{comm, log, timing};
};

/// A free cluster: a slightly disordered cube of 3 x 3 x 3 atoms.
Positions cluster() {
  Positions out;
  for (int i = 0; i < 27; ++i) {
    const Random4 random(1, Stream::external, i, 0);
    out.push_back({2.6 * (i % 3) + 0.5 * random.uniform(0), 2.6 * (i / 3 % 3) + 0.5 * random.uniform(1),
                   2.6 * (i / 9) + 0.5 * random.uniform(2)});
  }
  return out;
}

struct Result {
  double energy;
  Positions force;
  std::array<double, 9> virial;
  std::vector<double> atom_energy;
};

Result evaluate(MyPair& potential, const Positions& positions, World& world) {
  const int n = static_cast<int>(positions.size());
  Particles particles;
  particles.box = Box::orthogonal(100, 100, 100);
  particles.species = {{"Cu", 63.546}};
  potential.bind(particles.species);
  particles.nlocal = n;
  particles.nglobal = n;
  particles.reserve(n);
  auto x = Kokkos::create_mirror_view(particles.x);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 4; ++k) x(i, k) = k < 3 ? 40.0 + positions[i][k] : 0.0;
  Kokkos::deep_copy(particles.x, x);
  particles.place_sentinel();
  NeighborList list;
  build_neighbors(particles, potential.cutoff(), 0.5, list);
  NoGhosts ghosts;
  ForceOutput out;
  out.f = View<double* [3]>("f", n);
  out.atom_energy = View<double*>("atom_energy", n);
  out.atom_virial = View<double* [9]>("atom_virial", n);
  potential.compute(particles, list, ghosts, {.totals = true, .per_atom = true}, out, world.context);
  const auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.f);
  const auto e = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.atom_energy);
  Result result{out.energy, Positions(n), {}, std::vector<double>(n)};
  for (int i = 0; i < n; ++i) {
    result.force[i] = {f(i, 0), f(i, 1), f(i, 2)};
    result.atom_energy[i] = e(i);
  }
  std::copy(out.virial, out.virial + 9, result.virial.begin());
  return result;
}

MyPair potential(World& world) {
  return MyPair({.depth = 0.35, .width = 1.4, .distance = 2.8, .cutoff = 6.0}, world.context);
}

/// dE/ds at s = 0 of a family of configurations, by central differences.
double slope(MyPair& p, World& world, const std::function<void(Positions&, double)>& change) {
  const double h = 1e-5;
  Positions up = cluster(), down = cluster();
  change(up, h);
  change(down, -h);
  return (evaluate(p, up, world).energy - evaluate(p, down, world).energy) / (2 * h);
}

}  // namespace

TEST_CASE("two atoms have the energy of the formula") {
  World world;
  auto p = potential(world);
  const auto energy = [](double r) { return 0.35 * (std::pow(1 - std::exp(-1.4 * (r - 2.8)), 2) - 1); };
  for (const double r : {2.2, 2.8, 4.0, 5.9}) {
    const auto result = evaluate(p, {{0, 0, 0}, {r, 0, 0}}, world);
    CHECK(result.energy == Approx(energy(r) - energy(6.0)).margin(1e-14));
  }
  CHECK(evaluate(p, {{0, 0, 0}, {6.1, 0, 0}}, world).energy == 0.0);
}

TEST_CASE("forces are minus the gradient of the energy") {
  World world;
  auto p = potential(world);
  const auto result = evaluate(p, cluster(), world);
  for (const int i : {0, 13, 22})
    for (int k = 0; k < 3; ++k) {
      const double gradient = slope(p, world, [&](Positions& x, double h) { x[i][k] += h; });
      CHECK(result.force[i][k] == Approx(-gradient).epsilon(1e-6).margin(1e-8));
    }
}

TEST_CASE("the virial is minus the derivative of the energy by a strain, and energies of atoms add up") {
  World world;
  auto p = potential(world);
  const auto result = evaluate(p, cluster(), world);
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) {
      const double derivative = slope(p, world, [&](Positions& x, double h) {
        for (auto& r : x) r[a] += h * r[b];
      });
      CHECK(result.virial[3 * a + b] == Approx(-derivative).epsilon(1e-6).margin(1e-7));
    }
  double sum = 0.0;
  for (const double e : result.atom_energy) sum += e;
  CHECK(sum == Approx(result.energy));
}
