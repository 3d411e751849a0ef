#include "core/base/error.hpp"
#include "plugins/md/potentials/sutton_chen.hpp"
#include "tests/plugins/md/potential_check.hpp"

using namespace cambium;
using namespace cambium::test;
using md::SuttonChen;

namespace {

/// The formula as printed, with the documented truncation.
double plain_energy(const PeriodicSystem& s, const SuttonChen::Numbers& p, double width) {
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), s.particles.x);
  double energy = 0.0;
  for (int i = 0; i < s.particles.nlocal; ++i) {
    double pair = 0.0, rho = 0.0;
    for (int j = 0; j < s.particles.total(); ++j) {
      const double d[3] = {x(j, 0) - x(i, 0), x(j, 1) - x(i, 1), x(j, 2) - x(i, 2)};
      const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
      if (j == i || r >= p.cutoff) continue;
      pair += smooth_step(r, p.cutoff - width, p.cutoff) * std::pow(p.a / r, p.n);
      rho += smooth_step(r, p.cutoff - width, p.cutoff) * std::pow(p.a / r, p.m);
    }
    energy += p.epsilon * (0.5 * pair - p.c * std::sqrt(rho));
  }
  return energy;
}

SuttonChen::Params element(const char* symbol, bool tail, std::optional<double> cutoff = {}) {
  SuttonChen::Params p;
  p.element = symbol;
  p.tail = tail;
  p.cutoff = cutoff;
  return p;
}

PotentialCase metal_case(const SuttonChen::Params& params, const char* symbol, double amplitude, World& world) {
  PotentialCase c;
  auto potential = std::make_unique<SuttonChen>(params, world.context);
  const auto numbers = potential->numbers();
  const double a = numbers.a;
  const double rows[3][3] = {{2 * a, 0, 0}, {0.3, 2 * a, 0}, {-0.2, 0.4, 2 * a}};
  c.box = Box::from_vectors(rows);
  c.positions = lattice(a, {2, 2, 2}, fcc_basis);
  rattle(c.positions, amplitude, 4);
  c.types.assign(c.positions.size(), 0);
  c.species = {{symbol, 1.0}};
  c.potential = std::move(potential);
  c.potential->bind(c.species);
  c.oracle = [=](const PeriodicSystem& s) {
    return plain_energy(s, numbers, params.switch_width.value_or(0.2 * numbers.cutoff));
  };
  return c;
}

/// Energy per atom and pressure (eV/Å^3) of the fcc crystal by the kernels.
std::pair<double, double> crystal(const SuttonChen::Params& params, const char* symbol, double a, World& world) {
  auto c = metal_case(params, symbol, 0.0, world);
  c.box = Box::orthogonal(2 * a, 2 * a, 2 * a);
  c.positions = lattice(a, {2, 2, 2}, fcc_basis);
  auto s = c.system();
  const auto e = c.evaluate(s, world);
  return {e.energy / 32.0, (e.virial[0] + e.virial[4] + e.virial[8]) / (3.0 * c.box.volume())};
}

/// Lattice constant where the pressure vanishes, by bisection.
double equilibrium(const SuttonChen::Params& params, const char* symbol, double guess, World& world) {
  double low = 0.98 * guess, high = 1.02 * guess;
  while (high - low > 1e-9) {
    const double a = 0.5 * (low + high);
    (crystal(params, symbol, a, world).second > 0.0 ? low : high) = a;
  }
  return 0.5 * (low + high);
}

}  // namespace

TEST_CASE("sutton_chen satisfies what every potential must") {
  World world;
  check_potential(metal_case(element("Cu", false), "Cu", 0.3, world), world);
  check_potential(metal_case(element("Pt", false, 6.0), "Pt", 0.2, world), world);
  SuttonChen::Params own;
  own.epsilon = 0.02;
  own.a = 3.7;
  own.c = 30.0;
  own.n = 11;
  own.m = 5;
  own.cutoff = 6.3;
  own.switch_width = 1.7;
  check_potential(metal_case(own, "X", 0.25, world), world);
}

TEST_CASE("sutton_chen with tail keeps gradient, strain derivative and symmetries") {
  World world;
  auto c = metal_case(element("Cu", true, 5.5), "Cu", 0.3, world);
  check_forces_are_gradient(c, world);
  check_virial_is_strain_derivative(c, world);
  check_invariances(c, world);
  check_outputs_agree(c, world);
}

TEST_CASE("sutton_chen copper has its published lattice constant, cohesion and bulk modulus") {
  World world;
  for (const auto& params : {element("Cu", true), element("Cu", true, 12.0), element("Cu", false, 24.0)}) {
    INFO("cut-off " << params.cutoff.value_or(7.22) << ", tail " << params.tail);
    const double a = equilibrium(params, "Cu", 3.61, world);
    const auto [energy, pressure] = crystal(params, "Cu", a, world);
    CHECK(a == Approx(3.61).epsilon(1e-3));
    CHECK(-energy == Approx(3.50).epsilon(1e-3));
    // B = -V dp/dV = -a/3 dp/da
    const double h = 1e-3;
    const double slope =
        (crystal(params, "Cu", a + h, world).second - crystal(params, "Cu", a - h, world).second) / (2 * h);
    const double omega = a * a * a / 4.0;
    CHECK(-a / 3.0 * slope == Approx(9 * 6 * -energy / (18.0 * omega)).epsilon(5e-3));
    CHECK(std::abs(pressure) < 1e-8);
  }
}

TEST_CASE("sutton_chen knows the error of its cut-off") {
  World world;
  for (const bool tail : {false, true}) {
    SuttonChen potential(element("Cu", tail), world.context);
    const auto [energy, pressure] = crystal(element("Cu", tail), "Cu", 3.61, world);
    CHECK(potential.crystal_energy(3.61, true) == Approx(energy).epsilon(1e-10));
    // The converged sum, from a kernel with a very long cut-off and the small tail beyond it.
    CHECK(potential.crystal_energy(3.61, false) ==
          Approx(crystal(element("Cu", true, 30.0), "Cu", 3.61, world).first).epsilon(1e-6));
    INFO(potential.summary());
    CHECK(potential.summary().find("eV from the converged lattice sum") != std::string::npos);
  }
}

TEST_CASE("sutton_chen crystals of all published metals are at rest at their lattice constants") {
  World world;
  const std::vector<std::pair<const char*, double>> metals = {{"Ni", 3.52}, {"Cu", 3.61}, {"Rh", 3.80}, {"Pd", 3.89},
                                                              {"Ag", 4.09}, {"Ir", 3.84}, {"Pt", 3.92}, {"Au", 4.08},
                                                              {"Pb", 4.95}, {"Al", 4.05}};
  for (const auto& [symbol, a] : metals) {
    INFO(symbol);
    CHECK(equilibrium(element(symbol, true, 3.0 * a), symbol, a, world) == Approx(a).epsilon(1e-3));
  }
}

TEST_CASE("sutton_chen says what is wrong") {
  World world;
  CHECK_THROWS_WITH(SuttonChen(element("Fe", false), world.context),
                    "sutton_chen has no published parameters for Fe: it has Ni, Cu, Rh, Pd, Ag, Ir, Pt, Au, Pb, Al; or "
                    "give `epsilon`, `a`, `c`, `n` and `m`");
  CHECK_THROWS_WITH(SuttonChen({}, world.context),
                    "sutton_chen needs `element`, or all of `epsilon`, `a`, `c`, `n` and `m`");
  SuttonChen potential(element("Cu", false), world.context);
  const std::vector<Species> nickel = {{"Ni", 58.7}}, alloy = {{"Cu", 63.5}, {"Ni", 58.7}};
  CHECK_THROWS_WITH(potential.bind(nickel), "sutton_chen describes one species, Cu, but the deck has Ni");
  CHECK_THROWS_WITH(potential.bind(alloy), "sutton_chen describes one species, Cu, but the deck has Cu, Ni");
}
