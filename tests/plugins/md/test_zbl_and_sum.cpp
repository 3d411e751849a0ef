#include "core/base/error.hpp"
#include "core/plugin/registry.hpp"
#include "plugins/md/potentials/lennard_jones.hpp"
#include "plugins/md/potentials/stillinger_weber.hpp"
#include "plugins/md/potentials/sum.hpp"
#include "plugins/md/potentials/zbl.hpp"
#include "tests/plugins/md/potential_check.hpp"

using namespace cambium;
using namespace cambium::test;
using namespace cambium::md;

namespace {

/// Equations (2-60) and following of the book, in eV and Å.
double zbl(double r, double zi, double zj) {
  const double x = r * (std::pow(zi, 0.23) + std::pow(zj, 0.23)) / 0.46850;
  return 14.3996454784255 * zi * zj / r *
         (0.18175 * std::exp(-3.1998 * x) + 0.50986 * std::exp(-0.94229 * x) + 0.28022 * std::exp(-0.4029 * x) +
          0.02817 * std::exp(-0.20162 * x));
}

PotentialCase compressed_case(std::vector<Species> species) {
  PotentialCase c;
  const double a = 4.3;
  const double rows[3][3] = {{2 * a, 0, 0}, {0.4, 2 * a, 0}, {-0.3, 0.5, 2 * a}};
  c.box = Box::from_vectors(rows);
  c.positions = lattice(a, {2, 2, 2}, diamond_basis);
  rattle(c.positions, 0.35, 8);
  c.species = species;
  for (std::size_t i = 0; i < c.positions.size(); ++i) c.types.push_back(i % species.size());
  return c;
}

Zbl::Params zbl_params() {
  Zbl::Params p;
  p.inner = 1.5;
  p.outer = 2.9;
  p.charges = {{"heavy", 60.5}};
  return p;
}

}  // namespace

TEST_CASE("zbl of two species") {
  World world;
  auto c = compressed_case({{"Si", 28.1}, {"heavy", 100.0}});
  c.potential = std::make_unique<Zbl>(zbl_params(), world.context);
  c.potential->bind(c.species);
  c.oracle = [](const PeriodicSystem& s) {
    const double z[2] = {14.0, 60.5};
    return 0.5 *
           sum_over_pairs(s, [&](double r, int i, int j) { return smooth_step(r, 1.5, 2.9) * zbl(r, z[i], z[j]); });
  };
  check_potential(c, world);
}

/// Its n-th derivative by r, n up to 2: term by term of s exp(-k r) / r.
double zbl_slope(int n, double r, double zi, double zj) {
  const double per_a = (std::pow(zi, 0.23) + std::pow(zj, 0.23)) / 0.46850;
  const double s[4] = {0.18175, 0.50986, 0.28022, 0.02817}, rates[4] = {3.1998, 0.94229, 0.4029, 0.20162};
  double sum = 0.0;
  for (int m = 0; m < 4; ++m) {
    const double k = rates[m] * per_a, e = s[m] * std::exp(-k * r);
    sum += n == 0   ? e / r
           : n == 1 ? -e * (k / r + 1.0 / (r * r))
                    : e * (k * k / r + 2.0 * k / (r * r) + 2.0 / (r * r * r));
  }
  return 14.3996454784255 * zi * zj * sum;
}

/// LAMMPS' S(r).
double added(double r, double inner, double outer, double zi, double zj) {
  const double width = outer - inner;
  const double e = zbl(outer, zi, zj), slope = zbl_slope(1, outer, zi, zj), curvature = zbl_slope(2, outer, zi, zj);
  const double a = (-3.0 * slope + width * curvature) / (width * width);
  const double b = (2.0 * slope - width * curvature) / (width * width * width);
  const double t = std::max(r - inner, 0.0);
  return a / 3.0 * t * t * t + b / 4.0 * t * t * t * t - e + 0.5 * width * slope - width * width * curvature / 12.0;
}

TEST_CASE("zbl with LAMMPS' polynomial ends smoothly at the cut-off") {
  World world;
  auto params = zbl_params();
  params.switching = Zbl::Params::Switching::added;
  auto c = compressed_case({{"Si", 28.1}, {"heavy", 100.0}});
  c.potential = std::make_unique<Zbl>(params, world.context);
  c.potential->bind(c.species);
  CHECK(c.potential->summary() == "ZBL repulsion, switched off from 1.5 to 2.9 Å as LAMMPS does");
  const double z[2] = {14.0, 60.5};
  c.oracle = [&](const PeriodicSystem& s) {
    return 0.5 * sum_over_pairs(s, [&](double r, int i, int j) {
             return r < 2.9 ? zbl(r, z[i], z[j]) + added(r, 1.5, 2.9, z[i], z[j]) : 0.0;
           });
  };
  check_potential(c, world);
  // Energy, force and curvature end at the cut-off: to third order in the distance from it.
  const auto total = [&](double r) { return zbl(r, z[0], z[1]) + added(r, 1.5, 2.9, z[0], z[1]); };
  CHECK(std::abs(total(2.9)) < 1e-6);
  CHECK(std::abs(total(2.89)) < 30.0 * zbl(2.9, z[0], z[1]) * 1e-6);
}

TEST_CASE("zbl with LAMMPS' polynomial has LAMMPS' energy and forces, computed and from a table") {
  World world;
  PotentialCase c;
  const double rows[3][3] = {{20, 0, 0}, {0, 20, 0}, {0, 0, 20}};
  c.box = Box::from_vectors(rows);
  c.positions = {{5.0, 5.0, 5.0}, {6.9, 5.3, 5.0}, {5.0, 7.2, 5.1}, {5.6, 5.2, 4.5}};
  c.species = {{"Si", 28.1}, {"Cu", 63.5}};
  c.types = {0, 1, 0, 1};
  // `pair_style zbl 1.5 2.9` under `units metal`, LAMMPS of 23 June 2022; its e^2 / (4 pi eps0) is 14.399645 eV Å.
  const double constant = 14.3996454784255 / 14.399645;
  const double force[4][3] = {{-602.981226878, -202.004546386, 493.226250113},
                              {109.606255111, 9.07630204266, 37.8467048266},
                              {-1.55253139305, 7.5835206438, 1.47328487733},
                              {494.92750316, 185.344723699, -532.546239816}};
  for (const bool table : {false, true}) {
    Zbl::Params params{.inner = 1.5, .outer = 2.9, .switching = Zbl::Params::Switching::added};
    if (table) params.table.emplace().error = 1e-9;
    c.potential = std::make_unique<Zbl>(params, world.context);
    c.potential->bind(c.species);
    auto s = c.system();
    const auto found = c.evaluate(s, world);
    CHECK(found.energy == Approx(constant * 215.663364896).epsilon(table ? 1e-8 : 1e-10));
    for (int i = 0; i < 4; ++i)
      for (int k = 0; k < 3; ++k)
        CHECK(found.forces[i][k] == Approx(constant * force[i][k]).epsilon(1e-9).margin(1e-6));
  }
}

TEST_CASE("zbl from a table gives the forces of its formula within the error") {
  World world;
  const std::vector<std::vector<Species>> cases{{{"Si", 28.1}}, {{"Si", 28.1}, {"heavy", 100.0}}};
  for (const auto& species : cases) {
    auto c = compressed_case(species);
    c.positions[1] = {c.positions[0][0] + 0.6, c.positions[0][1], c.positions[0][2]};  // closer than the table begins
    const auto evaluate = [&](std::optional<double> error) {
      auto params = zbl_params();
      if (error) params.table.emplace().error = *error;
      c.potential = std::make_unique<Zbl>(params, world.context);
      c.potential->bind(c.species);
      auto s = c.system();
      return c.evaluate(s, world);
    };
    const auto exact = evaluate({});
    CHECK(c.potential->summary() == "ZBL repulsion, switched off from 1.5 to 2.9 Å");
    for (const double error : {1e-5, 1e-9}) {
      const auto found = evaluate(error);
      CHECK(c.potential->summary().find("from 1.5 to 2.9 Å, from a table over r² of ") != std::string::npos);
      // The wanted error is of a pair; an atom has some tens of them, and the largest force here is that of the close
      // ones.
      double worst = 0.0, strongest = 0.0;
      for (std::size_t i = 0; i < exact.forces.size(); ++i)
        for (int k = 0; k < 3; ++k) worst = std::max(worst, std::abs(found.forces[i][k] - exact.forces[i][k]));
      for (std::size_t i = 2; i < exact.forces.size(); ++i)
        for (int k = 0; k < 3; ++k) strongest = std::max(strongest, std::abs(exact.forces[i][k]));
      CHECK(worst < 30.0 * error * strongest);
      CHECK(worst > 0.0);  // it was looked up
      CHECK(found.energy == Approx(exact.energy).epsilon(10.0 * error));
      for (int k = 0; k < 9; ++k)
        CHECK(std::abs(found.virial[k] - exact.virial[k]) < 100.0 * error * std::abs(exact.virial[0]));
    }
    // The pair within the beginning of the table: its forces are the formula's bit for bit when it is alone.
    c.positions = {{5, 5, 5}, {5.6, 5, 5}};
    c.types = {0, 0};
    c.box = Box::orthogonal(20, 20, 20);
    CHECK(evaluate(1e-6).forces[0][0] == evaluate({}).forces[0][0]);
  }
}

TEST_CASE("zbl at small distances approaches the bare nuclei") {
  const double bare = 14.399645478 * 14 * 14 / 1e-4;
  CHECK(zbl(1e-4, 14, 14) == Approx(bare).epsilon(5e-3));
  World world;
  PotentialCase c;
  c.box = Box::orthogonal(20, 20, 20);
  c.positions = {{5, 5, 5}, {5.0, 5.0001, 5}};
  c.species = {{"Si", 28.1}};
  c.types = {0, 0};
  c.potential = std::make_unique<Zbl>(zbl_params(), world.context);
  c.potential->bind(c.species);
  auto s = c.system();
  CHECK(c.evaluate(s, world).energy == Approx(zbl(1e-4, 14, 14)).epsilon(1e-9));
}

TEST_CASE("a sum adds its terms, with and without ghost forces") {
  World world;
  auto c = compressed_case({{"Si", 28.1}});
  LennardJones::Params lj;
  lj.epsilon = 0.01;
  lj.sigma = 2.2;
  lj.cutoff = 5.0;
  lj.truncation = Truncation::smooth;
  auto make = [&](int k) -> std::unique_ptr<Potential> {
    if (k == 0) return std::make_unique<StillingerWeber>(StillingerWeber::Params(), world.context);
    if (k == 1) return std::make_unique<Zbl>(zbl_params(), world.context);
    return std::make_unique<LennardJones>(lj, world.context);
  };
  double energy = 0.0;
  std::vector<std::unique_ptr<Potential>> terms;
  for (int k = 0; k < 3; ++k) {
    c.potential = make(k);
    c.potential->bind(c.species);
    auto s = c.system();
    energy += c.evaluate(s, world).energy;
    terms.push_back(make(k));
  }
  c.potential = std::make_unique<Sum>(std::move(terms));
  c.potential->bind(c.species);
  CHECK(c.potential->cutoff() == 5.0);
  CHECK(c.potential->writes_ghost_forces());
  CHECK(c.potential->citations().size() == 3);
  c.oracle = [energy](const PeriodicSystem&) { return energy; };
  check_potential(c, world);
}

TEST_CASE("a sum is made from a deck") {
  World world;
  Registry registry;
  registry.add<Zbl>("zbl", "screened nuclear repulsion");
  registry.add<StillingerWeber>("stillinger_weber", "tetrahedral liquids and solids");
  registry.add<LennardJones>("lennard_jones", "pairs");
  registry.add<Sum>("sum", "several potentials at once");
  world.context.registry = &registry;
  const auto keys = deck::parse(
      "terms: [{type: zbl, inner: 1, outer: 2}, stillinger_weber, {type: lennard_jones, cutoff: 6, epsilon: 10 meV, "
      "sigma: 2.5}]",
      "test.yaml");
  const auto potential = registry.make<Potential>("sum", keys, world.context);
  CHECK(potential->cutoff() == 6.0);
  const std::vector<Species> silicon = {{"Si", 28.1}};
  potential->bind(silicon);
  CHECK(potential->summary() ==
        "ZBL repulsion, switched off from 1 to 2 Å; plus Stillinger-Weber, cut-off 3.77118 Å; plus Lennard-Jones, "
        "cut-off 6 Å (plain)");
}

TEST_CASE("zbl and sum say what is wrong") {
  World world;
  Zbl::Params p;
  p.inner = 2.0;
  p.outer = 1.5;
  CHECK_THROWS_WITH(Zbl(p, world.context),
                    "zbl: `inner` is 2 Å and `outer` is 1.5 Å; the repulsion is switched off from the inner to the "
                    "outer distance, so `inner` must be smaller");
  Zbl potential(zbl_params(), world.context);
  const std::vector<Species> unknown = {{"Q1", 10.0}};
  CHECK_THROWS_WITH(potential.bind(unknown), "zbl: Q1 is no element; give its nuclear charge: `charges: {Q1: ...}`");
  CHECK_THROWS_WITH(Sum(Sum::Params{}, world.context), "sum: `terms` is empty; list the potentials to add");
}
