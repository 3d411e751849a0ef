#include "core/base/error.hpp"
#include "plugins/md/potentials/lennard_jones.hpp"
#include "tests/plugins/md/potential_check.hpp"

using namespace cambium;
using namespace cambium::test;
using md::LennardJones;

namespace {

const double eps = 0.0103, sig = 3.405;

double lj(double r, double e, double s) {
  const double x = std::pow(s / r, 6);
  return 4.0 * e * (x * x - x);
}

LennardJones::Params argon(Truncation truncation) {
  LennardJones::Params p;
  p.epsilon = eps;
  p.sigma = sig;
  p.cutoff = 2.5 * sig;
  p.truncation = truncation;
  return p;
}

LennardJones::Params mixture(Truncation truncation) {
  LennardJones::Params p;
  p.cutoff = 8.0;
  p.truncation = truncation;
  p.pairs = {{{"Ar", "Ar"}, eps, sig, {}},
             {{"Ne", "Ne"}, 0.0031, 2.75, 7.0},
             {{"Xe", "Ne"}, 0.006, 3.2, 6.5},
             {{"Xe", "Xe"}, 0.02, 3.9, {}}};
  return p;
}

PotentialCase fcc_case(const LennardJones::Params& params, std::vector<Species> species, World& world) {
  PotentialCase c;
  const double a = 5.5;
  const double rows[3][3] = {{2 * a, 0, 0}, {0.4, 2 * a, 0}, {-0.3, 0.5, 2 * a}};
  c.box = Box::from_vectors(rows);
  c.positions = lattice(a, {2, 2, 2}, fcc_basis);
  rattle(c.positions, 0.3, 3);
  c.species = species;
  for (std::size_t i = 0; i < c.positions.size(); ++i) c.types.push_back(i % species.size());
  c.potential = std::make_unique<LennardJones>(params, world.context);
  c.potential->bind(c.species);
  return c;
}

}  // namespace

TEST_CASE("lennard_jones of one species") {
  World world;
  const double rc = 2.5 * sig;
  for (const auto truncation : {Truncation::plain, Truncation::shift, Truncation::smooth}) {
    INFO("truncation " << static_cast<int>(truncation));
    auto c = fcc_case(argon(truncation), {{"Ar", 39.948}}, world);
    c.oracle = [&](const PeriodicSystem& s) {
      return 0.5 * sum_over_pairs(s, [&](double r, int, int) {
               if (r >= rc) return 0.0;
               if (truncation == Truncation::smooth) return lj(r, eps, sig) * smooth_step(r, 0.9 * rc, rc);
               return lj(r, eps, sig) - (truncation == Truncation::shift ? lj(rc, eps, sig) : 0.0);
             });
    };
    check_energy_against_oracle(c, world);
    check_invariances(c, world);
    check_rotation(c, world);
    check_outputs_agree(c, world);
    if (truncation != Truncation::plain) check_forces_are_gradient(c, world);
    if (truncation == Truncation::smooth) check_virial_is_strain_derivative(c, world);
  }
}

TEST_CASE("lennard_jones of three species, with own, mixed and absent parameters") {
  World world;
  const double e[3][3] = {{eps, std::sqrt(eps * 0.0031), std::sqrt(eps * 0.02)},
                          {std::sqrt(eps * 0.0031), 0.0031, 0.006},
                          {std::sqrt(eps * 0.02), 0.006, 0.02}};
  const double s[3][3] = {
      {sig, (sig + 2.75) / 2, (sig + 3.9) / 2}, {(sig + 2.75) / 2, 2.75, 3.2}, {(sig + 3.9) / 2, 3.2, 3.9}};
  const double rc[3][3] = {{8, 8, 8}, {8, 7, 6.5}, {8, 6.5, 8}};
  for (const auto truncation : {Truncation::shift, Truncation::smooth}) {
    auto c = fcc_case(mixture(truncation), {{"Ar", 39.9}, {"Ne", 20.2}, {"Xe", 131.3}}, world);
    c.oracle = [&](const PeriodicSystem& system) {
      return 0.5 * sum_over_pairs(system, [&](double r, int i, int j) {
               const double cut = rc[i][j];
               if (r >= cut) return 0.0;
               if (truncation == Truncation::shift) return lj(r, e[i][j], s[i][j]) - lj(cut, e[i][j], s[i][j]);
               return lj(r, e[i][j], s[i][j]) * smooth_step(r, cut - 0.8, cut);
             });
    };
    check_energy_against_oracle(c, world);
    check_forces_are_gradient(c, world);
    check_invariances(c, world);
    check_outputs_agree(c, world);
    if (truncation == Truncation::smooth) check_virial_is_strain_derivative(c, world);
  }
}

TEST_CASE("a long plain cut-off and a short one with tail correction agree in energy and pressure") {
  // A perfect fcc crystal is no uniform fluid, so the two differ by the structure beyond the short cut-off.
  World world;
  const double a = 5.3;
  auto energy_and_pressure = [&](double cutoff, bool tail) {
    auto params = argon(Truncation::plain);
    params.cutoff = cutoff;
    params.tail = tail;
    PotentialCase c;
    c.box = Box::orthogonal(2 * a, 2 * a, 2 * a);
    c.positions = lattice(a, {2, 2, 2}, fcc_basis);
    c.species = {{"Ar", 39.948}};
    c.potential = std::make_unique<LennardJones>(params, world.context);
    c.potential->bind(c.species);
    auto s = c.system();
    const Evaluation e = c.evaluate(s, world);
    CHECK(std::accumulate(e.atom_energy.begin(), e.atom_energy.end(), 0.0) == Approx(e.energy).epsilon(1e-12));
    return std::pair(e.energy, (e.virial[0] + e.virial[4] + e.virial[8]) / 3.0);
  };
  const auto [e_long, w_long] = energy_and_pressure(45.0, true);
  const auto [e_plain, w_plain] = energy_and_pressure(15.05, false);
  const auto [e_tail, w_tail] = energy_and_pressure(15.05, true);
  CHECK(std::abs(e_tail - e_long) < 0.02 * std::abs(e_plain - e_long));
  CHECK(std::abs(w_tail - w_long) < 0.1 * std::abs(w_plain - w_long));
}

TEST_CASE("lennard_jones with tail correction is for periodic cells") {
  World world;
  auto params = argon(Truncation::plain);
  for (const bool tail : {false, true}) {
    params.tail = tail;
    CHECK(LennardJones(params, world.context).needs_periodic_cell() == tail);
  }
}

TEST_CASE("lennard_jones says what is missing") {
  World world;
  const std::vector<Species> species = {{"Ar", 39.9}, {"Kr", 83.8}};
  LennardJones potential(argon(Truncation::plain), world.context);
  CHECK_THROWS_WITH(
      potential.bind(species),
      "lennard_jones has no parameters for Ar: add `{species: [Ar, Ar], epsilon: ..., sigma: ...}` to `pairs`");
  auto params = argon(Truncation::smooth);
  params.switch_width = 9.0;
  CHECK_THROWS_WITH(
      LennardJones(params, world.context),
      "lennard_jones: `switch_width` is 9 Å; it must be above 0 and below the shortest cut-off, 8.5125 Å");
  params.switch_width = 1.0;
  params.pairs.push_back({.species = {"Ar", "Kr"}, .epsilon = 0.01, .sigma = 3.5, .cutoff = 0.9});
  CHECK_THROWS_WITH(LennardJones(params, world.context),
                    "lennard_jones: `switch_width` is 1 Å; it must be above 0 and below the shortest cut-off, 0.9 Å");
  params = argon(Truncation::shift);
  params.tail = true;
  CHECK_THROWS_WITH(
      LennardJones(params, world.context),
      "lennard_jones: `tail: true` corrects a plain cut-off; with `truncation: shift` or `smooth` leave it out");
}

TEST_CASE("lennard_jones refuses pairs that would be passed over") {
  World world;
  const std::vector<Species> argon_only = {{"Ar", 39.9}}, both = {{"Ar", 39.9}, {"Kr", 83.8}};
  auto params = argon(Truncation::plain);
  const auto bind = [&](const std::vector<Species>& species) { LennardJones(params, world.context).bind(species); };
  params.pairs = {{.species = {"Ar", "Ar"}, .epsilon = 0.02, .sigma = 3.0}};
  CHECK_THROWS_WITH(
      bind(argon_only),
      "lennard_jones: Ar has `epsilon` and `sigma` and an entry [Ar, Ar] in `pairs`; leave one of them out");
  params.epsilon.reset();
  params.sigma.reset();
  CHECK_NOTHROW(bind(argon_only));
  params.pairs.push_back({.species = {"Kr", "Kr"}, .epsilon = 0.014, .sigma = 3.6});
  params.pairs.push_back({.species = {"Ar", "kr"}, .epsilon = 0.011, .sigma = 3.5});
  CHECK_THROWS_WITH(
      bind(both), "lennard_jones: `pairs` names kr, which is no element and not in the structure; did you mean 'Kr'?");
  params.pairs.back().species = {"Ar", "Kr"};
  CHECK_NOTHROW(bind(both));
  CHECK_NOTHROW(bind(argon_only));
  params.pairs.push_back({.species = {"Kr", "Ar"}, .epsilon = 0.010, .sigma = 3.4});
  CHECK_THROWS_WITH(bind(both), "lennard_jones: `pairs` has two entries for [Ar, Kr]; keep the one that is meant");
}
