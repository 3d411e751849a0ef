#include "core/base/error.hpp"
#include "plugins/md/potentials/born_mayer.hpp"
#include "tests/plugins/md/potential_check.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::test;
using namespace cambium::md;

namespace {

/// M. P. Tosi and F. G. Fumi, J. Phys. Chem. Solids 25, 45 (1964): NaCl.
BornMayerForm::Params salt(Truncation truncation) {
  return {8.0,
          truncation,
          {},
          {{{"Na", "Na"}, 0.2637, 0.317, 2.340, 1.0486, 0.4993},
           {{"Na", "Cl"}, 0.2110, 0.317, 2.755, 6.9906, 8.6758},
           {{"Cl", "Cl"}, 0.1582, 0.317, 3.170, 72.4022, 145.4285}}};
}

PotentialCase salt_case(const BornMayerForm::Params& params, World& world) {
  PotentialCase c;
  const double a = 4.2, rows[3][3] = {{3 * a, 0, 0}, {0.5, 3 * a, 0}, {-0.4, 0.8, 3 * a}};
  c.box = Box::from_vectors(rows);
  c.positions = lattice(a, {3, 3, 3}, {{0, 0, 0}, {.5, .5, .5}});
  rattle(c.positions, 0.3, 5);
  c.species = {{"Na", 23.0}, {"Cl", 35.5}};
  for (std::size_t i = 0; i < c.positions.size(); ++i) c.types.push_back(static_cast<int>(i % 2));
  c.potential = std::make_unique<BornMayer>(params, world.context);
  c.potential->bind(c.species);
  c.oracle = [params](const PeriodicSystem& s) {
    return 0.5 * sum_over_pairs(s, [&](double r, int a, int b) {
             const auto& p = params.pairs[static_cast<std::size_t>(a + b)];
             const double rc = params.cutoff;
             if (r >= rc) return 0.0;
             const auto energy = [&](double x) {
               return p.a * std::exp((p.sigma - x) / p.rho) - p.c / std::pow(x, 6) - p.d / std::pow(x, 8);
             };
             if (params.truncation == Truncation::smooth) return energy(r) * smooth_step(r, 0.9 * rc, rc);
             return energy(r) - (params.truncation == Truncation::shift ? energy(rc) : 0.0);
           });
  };
  return c;
}

}  // namespace

TEST_CASE("born_mayer has the formula's energy, gradient, virial and symmetries") {
  World world;
  check_potential(salt_case(salt(Truncation::smooth), world), world);
  for (const auto truncation : {Truncation::plain, Truncation::shift}) {
    auto c = salt_case(salt(truncation), world);
    check_energy_against_oracle(c, world);
    check_outputs_agree(c, world);
  }
}

TEST_CASE("born_mayer refuses pairs that are missing, given twice or incomplete") {
  World world;
  auto params = salt(Truncation::plain);
  params.pairs.pop_back();
  BornMayer missing(params, world.context);
  const std::vector<Species> species = {{"Na", 23.0}, {"Cl", 35.5}};
  CHECK_THROWS_WITH(missing.bind(species),
                    "born_mayer: `pairs` has no [Cl, Cl]; add it, with `a: 0` where the two do not interact");
  params.pairs.push_back({{"Cl", "Na"}, 1.0, 0.3, 0.0, 0.0, 0.0});
  CHECK(message([&] { BornMayer(params, world.context); }) ==
        "born_mayer: `pairs` has two entries for [Na, Cl]; keep the one that is meant");
  params.pairs.back().species = {"Cl"};
  CHECK(message([&] { BornMayer(params, world.context); }) ==
        "born_mayer: an entry of `pairs` names 1 species; it needs two, like [Na, Cl]");
  params = salt(Truncation::smooth);
  params.switch_width = 9.0;
  CHECK(message([&] { BornMayer(params, world.context); }) ==
        "born_mayer: `switch_width` is 9 Å; it must be below the cut-off, 8 Å");
}
