// The built-in Hamiltonian: published crystals, forces as slopes, and what a finite reach costs.
#include <iostream>

#include "core/parallel/random.hpp"
#include "plugins/submatrix/potentials/tight_binding.hpp"
#include "tests/catch.hpp"
#include "tests/periodic.hpp"
#include "tests/plugins/md/potential_check.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using cambium::test::Evaluation;
using cambium::test::PeriodicSystem;
using cambium::test::Position;
using cambium::test::PotentialCase;

namespace {

/// Diamond, cells^3 cubic cells of 8 atoms with random displacements.
PotentialCase diamond(const char* symbol, const std::string& set, double a, int cells, double noise,
                      TightBinding::Params params, test::World& world) {
  if (!set.empty()) params.parameters = set;
  PotentialCase c;
  c.box = Box::orthogonal(cells * a, cells * a, cells * a);
  std::uint64_t id = 0;
  for (int x = 0; x < cells; ++x)
    for (int y = 0; y < cells; ++y)
      for (int z = 0; z < cells; ++z)
        for (int s = 0; s < 8; ++s, ++id) {
          const int f = s / 2;  // fcc sites, and each shifted by a quarter
          const double q = s % 2 ? 0.25 : 0.0;
          const Random4 random(3, Stream::lattice_noise, id, 0);
          c.positions.push_back({a * (x + (f == 1 || f == 2 ? 0.5 : 0.0) + q) + noise * (random.uniform(0) - 0.5),
                                 a * (y + (f == 1 || f == 3 ? 0.5 : 0.0) + q) + noise * (random.uniform(1) - 0.5),
                                 a * (z + (f == 2 || f == 3 ? 0.5 : 0.0) + q) + noise * (random.uniform(2) - 0.5)});
        }
  c.species = {{symbol, 12.0}};
  auto potential = std::make_unique<TightBinding>(params, world.context);
  potential->bind(c.species);
  c.potential = std::move(potential);
  return c;
}

TightBinding::Params exact() {
  TightBinding::Params params;
  params.solver = SolverKind::diagonalise;
  return params;
}

double energy_per_atom(const char* symbol, const char* set, double a, int cells, test::World& world) {
  const auto c = diamond(symbol, set, a, cells, 0.0, exact(), world);
  auto s = c.system();
  return c.evaluate(s, world, {true, false}).energy / static_cast<double>(c.positions.size());
}

struct Crystal {
  double a, cohesive, bulk;  ///< Å, eV/atom with respect to atoms without polarisation, GPa
};

/// Parabola through three lattice constants.
Crystal relaxed(const char* symbol, const char* set, double guess, int cells, test::World& world) {
  const double h = 0.005 * guess;
  const double below = energy_per_atom(symbol, set, guess - h, cells, world),
               at = energy_per_atom(symbol, set, guess, cells, world),
               above = energy_per_atom(symbol, set, guess + h, cells, world);
  const double slope = (above - below) / (2.0 * h), curvature = (above - 2.0 * at + below) / (h * h),
               a = guess - slope / curvature;
  const auto model = tight_binding_model(symbol, set);
  const Crystal out{a, 2.0 * (model.e_s + model.e_p) - at + 0.5 * slope * slope / curvature,
                    curvature * 8.0 / (9.0 * a) * 160.21766};
  std::cout << symbol << " " << set << ", " << 8 * cells * cells * cells << " atoms: a " << out.a
            << " A, cohesive energy " << out.cohesive << " eV/atom, B " << out.bulk << " GPa\n";
  return out;
}

double largest_difference(const Evaluation& a, const Evaluation& b) {
  double out = 0.0;
  for (std::size_t i = 0; i < a.forces.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) out = std::max(out, std::abs(a.forces[i][k] - b.forces[i][k]));
  return out;
}

}  // namespace

TEST_CASE("the carbon tails join on") {
  const auto c = tight_binding_model("C");
  for (double r : {c.r1, c.d1}) {
    const auto low = r == c.r1 ? c.scaling(r - 1e-9) : c.repulsion(r - 1e-9),
               high = r == c.r1 ? c.scaling(r + 1e-9) : c.repulsion(r + 1e-9);
    CHECK(low.value == Approx(high.value).epsilon(1e-3));
    CHECK(low.slope == Approx(high.slope).epsilon(2e-3));
  }
  CHECK(std::abs(c.scaling(2.6 - 1e-9).value) < 1e-7);
  CHECK_THROWS_WITH(tight_binding_model("Ge"), "tight_binding has no parameters for Ge: it has C and Si");
}

TEST_CASE("the parameters are those of the element") {
  CHECK(tight_binding_model("Si").e_s == -12.2);
  CHECK_THROWS_WITH(tight_binding_model("C", "bowler"),
                    "tight_binding: the parameters 'bowler' are not for C; C has xu, Si has bowler and goodwin");
  const auto si = tight_binding_model("Si", "bowler");
  for (double r : {2.8, 3.2}) {
    CHECK(si.scaling(r - 1e-9).value == Approx(si.scaling(r + 1e-9).value).margin(1e-8));
    CHECK(si.scaling(r - 1e-9).slope == Approx(si.scaling(r + 1e-9).slope).margin(1e-7));
    CHECK(si.repulsion(r - 1e-9).value == Approx(si.repulsion(r + 1e-9).value).margin(1e-8));
    CHECK(si.repulsion(r - 1e-9).slope == Approx(si.repulsion(r + 1e-9).slope).margin(1e-7));
  }
}

// Against a sum over 4 x 4 x 4 k points of the cell of two atoms (written independently, in numpy): 64 atoms are its 2
// x 2 x 2.
TEST_CASE("diamond of carbon and of silicon") {
  test::World world;
  const Crystal carbon = relaxed("C", "xu", 3.555, 2, world);
  CHECK(carbon.a == Approx(3.555).epsilon(0.01));
  CHECK(carbon.bulk == Approx(456.0).epsilon(0.1));
  const Crystal bowler = relaxed("Si", "bowler", 5.43, 2, world);
  CHECK(bowler.a == Approx(5.4294).epsilon(0.002));
  CHECK(bowler.cohesive == Approx(6.000).epsilon(0.01));
  CHECK(bowler.bulk == Approx(100.0).epsilon(0.05));
  const Crystal goodwin = relaxed("Si", "goodwin", 5.43, 2, world);
  CHECK(goodwin.a == Approx(5.4348).epsilon(0.002));
  CHECK(goodwin.cohesive == Approx(6.175).epsilon(0.01));
  CHECK(goodwin.bulk == Approx(141.4).epsilon(0.05));
}

TEST_CASE("forces are the slope of the energy, exactly, and momentum is conserved") {
  test::World world;
  for (const char* symbol : {"C", "Si"}) {
    for (double temperature : {0.0, 3000.0}) {
      auto params = exact();
      params.temperature = temperature;
      const auto c = diamond(symbol, "", symbol[0] == 'C' ? 3.56 : 5.43, 1, 0.3, params, world);
      auto s = c.system();
      NeighborList list;
      build_neighbors(s.particles, c.potential->cutoff(), c.skin, list);
      const auto home = test::wrapped_positions(s);
      const Evaluation at = test::evaluate(*c.potential, s, list, world, {true, false});
      double worst = 0.0;
      for (std::size_t i : {0u, 5u})
        for (std::size_t k = 0; k < 3; ++k) {
          const auto energy = [&](double d) {
            auto moved = home;
            moved[i][k] += d;
            s.update(moved);
            return test::evaluate(*c.potential, s, list, world, {true, false}).energy;
          };
          const double h = 1e-3,
                       slope = (8.0 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12.0 * h);
          worst = std::max(worst, std::abs(slope + at.forces[i][k]) / test::largest(at.forces));
        }
      INFO(symbol << " at " << temperature << " K");
      CHECK(worst < 1e-6);
      Position total{};
      for (const auto& f : at.forces)
        for (std::size_t k = 0; k < 3; ++k) total[k] += f[k];
      for (double t : total) CHECK(std::abs(t) < 1e-9);
    }
  }
}

TEST_CASE("submatrices of all atoms are one diagonalisation") {
  test::World world;
  for (double temperature : {0.0, 3000.0}) {
    TightBinding::Params params = exact();
    params.temperature = temperature;
    const auto dense = diamond("Si", "", 5.43, 1, 0.3, params, world);
    params.reach = 20.0;
    const auto columns = diamond("Si", "", 5.43, 1, 0.3, params, world);
    auto s = dense.system();
    const Evaluation a = dense.evaluate(s, world, {true, false}), b = columns.evaluate(s, world, {true, false});
    CHECK(a.energy == Approx(b.energy).epsilon(1e-12));
    for (std::size_t i = 0; i < a.forces.size(); ++i)
      for (std::size_t k = 0; k < 3; ++k) CHECK(a.forces[i][k] == Approx(b.forces[i][k]).margin(1e-9));
  }
}

TEST_CASE("a longer reach makes forces better") {
  test::World world;
  const auto c = diamond("C", "", 3.56, 2, 0.2, exact(), world);
  auto s = c.system();
  const Evaluation reference = c.evaluate(s, world, {true, false});
  double before = 1e9;
  for (double reach : {2.7, 3.7, 4.7}) {
    TightBinding::Params params;
    params.reach = reach;
    params.skin = 0.1;
    auto other = diamond("C", "", 3.56, 2, 0.2, params, world);
    const Evaluation found = other.evaluate(s, world, {true, false});
    const double worst = largest_difference(found, reference);
    std::cout << "reach " << reach << " A: largest force error " << worst << " eV/A, energy "
              << (found.energy - reference.energy) / 64.0 << " eV/atom\n";
    CHECK(worst < before);
    before = worst;
  }
  CHECK(before < 0.1);  // without saturated edges 0.26
}
