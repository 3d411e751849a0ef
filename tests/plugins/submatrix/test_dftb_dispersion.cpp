// Dispersion of Lennard-Jones and Slater-Kirkwood form: known pairs, its lattice sum beside a plain one, forces and
// virial as slopes.
#include "core/base/constants.hpp"
#include "tests/plugins/submatrix/dftb_cases.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using cambium::test::Case;
using cambium::test::check_forces;
using cambium::test::check_virial;
using cambium::test::crystal;
using cambium::test::keys;
using cambium::test::molecule;
using cambium::test::species;

namespace {

/// Deeper than those of real atoms, so that errors show.
DispersionKeys lennard_jones() {
  DispersionKeys out;
  out.lennard_jones = {{"C", {6.5, 2e-3}}, {"H", {5.4, 1e-3}}, {"X", {7.1, 3e-3}}};
  return out;
}

DispersionKeys slater_kirkwood() {
  DispersionKeys out;
  out.slater_kirkwood = {{"C", {9.0, 6.0, 2.5}}, {"H", {2.6, 5.0, 0.8}}, {"X", {30.0, 7.0, 4.0}}};
  return out;
}

/// Sum over the images of a cell with a weight that falls smoothly from 1 to 0, and the integral of the rest.
double plain_sum(const DftbAtoms& atoms, const std::vector<DispersionPair>& pairs, std::size_t kinds) {
  constexpr double begin = 30.0, end = 80.0;
  const auto weight = [&](double r) {
    const double t = std::clamp((r - begin) / (end - begin), 0.0, 1.0);
    return 1.0 - t * t * t * t * t * (126.0 + t * (-420.0 + t * (540.0 + t * (-315.0 + t * 70.0))));
  };
  double rest = 0.0;  // of 1 / r^6
  constexpr int steps = 20000;
  for (int k = 0; k < steps; ++k) {
    const double r = begin + (end - begin) * (k + 0.5) / steps;
    rest += (1.0 - weight(r)) / std::pow(r, 4) * (end - begin) / steps;
  }
  rest = 4.0 * constants::pi / atoms.volume * (rest + 1.0 / (3.0 * std::pow(end, 3)));
  const auto reach = images_within(atoms, end);
  double sum = 0.0;
  for (int a = 0; a < atoms.count(); ++a)
    for (int b = 0; b < atoms.count(); ++b) {
      const auto& pair =
          pairs[static_cast<std::size_t>(atoms.type[a]) * kinds + static_cast<std::size_t>(atoms.type[b])];
      sum -= 0.5 * pair.c6 * rest;
      for (int i = -reach[0]; i <= reach[0]; ++i)
        for (int j = -reach[1]; j <= reach[1]; ++j)
          for (int k = -reach[2]; k <= reach[2]; ++k) {
            if (a == b && i == 0 && j == 0 && k == 0) continue;
            const auto d = atoms.vector(a, b, {i, j, k});
            const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
            if (r < end) sum += 0.5 * weight(r) * pair.at(r).energy;
          }
    }
  return sum;
}

}  // namespace

TEST_CASE("pairs of atoms: minimum, zero, polynomial inside, inverse sixth power outside") {
  const DftbKeys k = keys(false);
  const DftbParameters parameters(k.slater_koster, k.shells, k.repulsion, species);
  const auto lj = dispersion_pairs(lennard_jones(), parameters.elements());
  REQUIRE(lj.size() == 9);
  const DispersionPair& pair = lj[1];  // C, H
  const double x = std::sqrt(6.5 * 5.4), depth = std::sqrt(2e-6), zero = x / std::pow(2.0, 1.0 / 6.0);
  CHECK(pair.at(x).energy == Approx(-depth).epsilon(1e-14));
  CHECK(pair.at(x).slope == Approx(0.0).margin(1e-16));
  CHECK(pair.at(zero).energy == Approx(0.0).margin(1e-16));
  CHECK(pair.at(1e-9).energy == Approx(depth * 396.0 / 25.0).epsilon(1e-12));
  CHECK(pair.at(100.0).energy == Approx(-pair.c6 / 1e12).epsilon(1e-6));
  const auto sk = dispersion_pairs(slater_kirkwood(), parameters.elements());
  CHECK(sk[4].c6 == Approx(0.75 * std::sqrt(0.8) * std::pow(2.6, 1.5)).epsilon(1e-14));
  CHECK(sk[1].c6 == Approx(sk[3].c6).epsilon(1e-15));
  CHECK(sk[4].at(5.0).energy == Approx(-sk[4].c6 / 15625.0 * std::pow(1.0 - std::exp(-3.0), 4)).epsilon(1e-14));
  for (const auto& pairs : {lj, sk})
    for (const auto& one : pairs)
      for (const double r : {0.8 * zero, zero * (1.0 - 1e-7), zero * (1.0 + 1e-7), 1.3 * zero, 10.0, 20.0}) {
        const double h = 1e-5, slope = (one.at(r + h).energy - one.at(r - h).energy) / (2.0 * h);
        CHECK(one.at(r).slope == Approx(slope).margin(1e-9));
        // Curvature is continuous, too.
        const double bend = (one.at(r + h).slope - one.at(r - h).slope) / (2.0 * h),
                     beside = (one.at(r + 2 * h).slope - one.at(r).slope) / (2.0 * h);
        CHECK(bend == Approx(beside).margin(1e-6));
      }
}

TEST_CASE("the energy of a crystal is the plain sum over its images") {
  test::World world;
  for (const auto& dispersion : {lennard_jones(), slater_kirkwood()}) {
    auto k = keys(true);
    k.self_consistent = false;
    const DftbState without = Case(crystal(), k).run(world);
    k.dispersion = dispersion;
    const Case c(crystal(), k);
    const DftbState with = c.run(world);
    const double wanted = plain_sum(c.atoms, dispersion_pairs(dispersion, c.parameters.elements()), 3);
    CHECK(std::abs(wanted) > 1e-3);
    CHECK(with.dispersion == Approx(wanted).margin(1e-9));
    CHECK(with.mermin - without.mermin == Approx(wanted).margin(1e-9));
  }
}

TEST_CASE("forces and virial of the dispersion are slopes of the Mermin energy") {
  test::World world;
  for (const auto& dispersion : {lennard_jones(), slater_kirkwood()}) {
    auto k = keys(false);
    k.self_consistent = false;
    k.dispersion = dispersion;
    check_forces(Case(molecule(), k), world);
    k = keys(true);
    k.self_consistent = false;
    k.filling.temperature = 2000.0;
    k.dispersion = dispersion;
    const Case c(crystal(), k);
    check_forces(c, world);
    check_virial(c, world);
  }
}

TEST_CASE("an atom without polarisability has no dispersion") {
  test::World world;
  auto k = keys(false);
  k.dispersion = slater_kirkwood();
  for (auto& [name, atom] : *k.dispersion->slater_kirkwood) atom.polarisability = 0.0;
  CHECK(Case(molecule(), k).run(world).dispersion == 0.0);
}

TEST_CASE("dispersion without the parameters of a species is refused") {
  test::World world;
  auto k = keys(false);
  k.dispersion = lennard_jones();
  k.dispersion->lennard_jones->erase("H");
  CHECK_THROWS_WITH(Case(molecule(), k).run(world),
                    "dispersion.lennard_jones has no parameters of H; give those of every species of the structure");
  k.dispersion = slater_kirkwood();
  (*k.dispersion->slater_kirkwood)["Fe"] = {10.0, 5.0, 2.0};
  CHECK_THROWS_WITH(Case(molecule(), k).run(world),
                    "dispersion.slater_kirkwood names Fe, which the structure does not have; leave it out");
}
