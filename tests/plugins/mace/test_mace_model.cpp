// Models with random weights, from archives that the test writes, against a plain evaluation.
#include <filesystem>

#include "plugins/mace/engine/radial.hpp"
#include "plugins/mace/model/coupling.hpp"
#include "plugins/mace/potentials/mace.hpp"
#include "tests/plugins/mace/random_mace.hpp"
#include "tests/plugins/md/potential_check.hpp"

using namespace cambium;
using namespace cambium::test;

namespace {

std::string scratch(const std::string& name) {
  return (std::filesystem::temp_directory_path() / ("cambium_mace_" + name + ".model")).string();
}

/// Seven atoms in a skew cell narrower than twice the cut-off, so that an atom meets several images of another.
PotentialCase random_case(const RandomMace& model, const std::string& name, World& world,
                          mace::Precision precision = mace::Precision::float64) {
  PotentialCase c;
  const double rows[3][3] = {{4.1, 0, 0}, {0.4, 4.6, 0}, {-0.3, 0.5, 5.2}};
  c.box = Box::from_vectors(rows);

  c.positions = {{0.1, 0.2, 0.3}, {1.9, 0.4, 0.2}, {0.3, 2.2, 0.6}, {0.2, 0.1, 2.3},
                 {2.1, 2.4, 1.1}, {1.7, 0.8, 3.3}, {0.5, 3.0, 3.4}};
  c.types = {0, 1, 0, 0, 1, 0, 1};
  c.species = {{"O", 15.999}, {"H", 1.008}};
  const std::string path = scratch(name);
  model.write(path);
  c.potential = std::make_unique<mace::Mace>(mace::Mace::Params{path, precision}, world.context);
  std::filesystem::remove(path);
  c.potential->bind(c.species);
  c.gradient_step = 2e-4;
  return c;
}

/// The deck's types are the model's in another order.
double plain_energy(const RandomMace& model, PeriodicSystem s) {
  const auto x = Kokkos::create_mirror_view(s.particles.x);
  Kokkos::deep_copy(x, s.particles.x);
  for (int i = 0; i < s.particles.total(); ++i) x(i, 3) = 1.0 - x(i, 3);
  Particles own = s.particles;
  s.particles.x = View<double* [4]>("types of the model", own.capacity());
  Kokkos::deep_copy(s.particles.x, x);
  const double energy = model.energy(s);
  for (int i = 0; i < own.total(); ++i) x(i, 3) = 1.0 - x(i, 3);
  Kokkos::deep_copy(own.x, x);
  return energy;
}

void check_model(const RandomMace& model, const std::string& name) {
  World world;
  auto c = random_case(model, name, world);
  c.oracle = [&model](const PeriodicSystem& s) { return plain_energy(model, s); };
  check_potential(c, world);
}

}  // namespace

TEST_CASE("mace with one interaction") { check_model(RandomMace(1), "one"); }
TEST_CASE("mace with one interaction and pairs alone in its contraction") { check_model(RandomMace(1, 2), "pairs"); }
TEST_CASE("mace with two interactions") { check_model(RandomMace(2), "two"); }
TEST_CASE("mace with three interactions and weights that are cut off") {
  check_model(RandomMace(3, 2, false), "three");
}

TEST_CASE("mace with more channels than a register holds") { check_model(RandomMace(2, 3, true, 19), "wide"); }

namespace {

/// Errors of float32 beside float64: of the energy of an atom over the largest one, of forces and virial over the
/// largest component.
void check_single_precision(const RandomMace& model, const std::string& name, double tolerance) {
  World world;
  auto exact = random_case(model, name, world), rounded = random_case(model, name, world, mace::Precision::float32);
  auto s = exact.system();
  const Evaluation a = exact.evaluate(s, world), b = rounded.evaluate(s, world);
  double energy = 0.0, energy_error = 0.0, force_error = 0.0, virial = 0.0, virial_error = 0.0;
  for (std::size_t i = 0; i < a.forces.size(); ++i) {
    energy = std::max(energy, std::abs(a.atom_energy[i]));
    energy_error = std::max(energy_error, std::abs(b.atom_energy[i] - a.atom_energy[i]));
    for (std::size_t k = 0; k < 3; ++k) force_error = std::max(force_error, std::abs(b.forces[i][k] - a.forces[i][k]));
  }
  for (std::size_t k = 0; k < 9; ++k) {
    virial = std::max(virial, std::abs(a.virial[k]));
    virial_error = std::max(virial_error, std::abs(b.virial[k] - a.virial[k]));
  }
  INFO(name << ": energy " << energy_error / energy << ", forces " << force_error / largest(a.forces) << ", virial "
            << virial_error / virial);
  CHECK(energy_error < tolerance * energy);
  CHECK(force_error < tolerance * largest(a.forces));
  CHECK(virial_error < tolerance * virial);
  CHECK(force_error > 0.0);
  const Evaluation again = rounded.evaluate(s, world);
  CHECK(again.energy == b.energy);
  CHECK(again.forces == b.forces);
  CHECK(again.virial == b.virial);
  check_outputs_agree(rounded, world);
}

}  // namespace

TEST_CASE(
    "mace in single precision: energies, forces and virial beside float64, with the same bits from call to call") {
  check_single_precision(RandomMace(1), "one", 3e-6);
  check_single_precision(RandomMace(3, 2, false), "three", 3e-6);
  check_single_precision(RandomMace(2, 3, true, 19), "wide", 3e-6);
}

TEST_CASE("mace in single precision: forces of an isolated pair are opposite") {
  World world;
  const RandomMace model(2);
  auto c = random_case(model, "pair", world, mace::Precision::float32);
  c.box = Box::orthogonal(20, 20, 20);
  c.positions = {{1, 1, 1}, {2.1, 1.4, 1.7}};
  c.types = {1, 0};
  auto s = c.system();
  const auto forces = c.evaluate(s, world).forces;
  for (std::size_t k = 0; k < 3; ++k) CHECK(std::abs(forces[0][k] + forces[1][k]) < 1e-12 * largest(forces));
}

TEST_CASE("mace: the same bits from call to call, on a list with any skin") {
  World world;
  const RandomMace model(2);
  auto c = random_case(model, "bits", world);
  auto s = c.system();
  const Evaluation first = c.evaluate(s, world), second = c.evaluate(s, world);
  CHECK(first.energy == second.energy);
  CHECK(first.forces == second.forces);
  CHECK(first.virial == second.virial);
  c.skin = 1.7;
  auto wide = c.system();
  CHECK(c.evaluate(wide, world).energy == Approx(first.energy).epsilon(1e-13));
}

TEST_CASE("mace: an atom without neighbours has the energy of a free atom") {
  World world;
  const RandomMace model(2);
  auto c = random_case(model, "alone", world);
  c.box = Box::orthogonal(20, 20, 20);
  c.positions = {{1, 1, 1}};
  c.types = {1};
  auto s = c.system();
  CHECK(c.evaluate(s, world).energy == Approx(plain_energy(model, s)).epsilon(1e-13));
}

TEST_CASE("mace: spherical harmonics of degree 3 and real 3j symbols have the signs of e3nn") {
  const double n[3] = {0.48, 0.6, 0.64};
  double y[16];
  mace::spherical_harmonics(3, n, y, nullptr);
  const double x = n[0], u = n[1], z = n[2], root = std::sqrt(7.0);
  CHECK(y[9] == Approx(root * std::sqrt(5.0 / 8.0) * (2.0 * x * z * z + x * (z * z - x * x))));
  CHECK(y[10] == Approx(root * std::sqrt(15.0) * x * z * u));
  CHECK(y[12] == Approx(root * 0.5 * u * (2.0 * u * u - 3.0 * (x * x + z * z))));
  CHECK(y[15] == Approx(root * std::sqrt(5.0 / 8.0) * (z * (z * z - x * x) - 2.0 * x * x * z)));
  for (int l = 0; l <= 3; ++l) {
    double sum = 0.0;
    for (int m = l * l; m < (l + 1) * (l + 1); ++m) sum += y[m] * y[m];
    CHECK(sum == Approx(2 * l + 1));
  }
  const auto cross = mace::wigner_3j(1, 1, 1), symmetric = mace::wigner_3j(1, 1, 2), third = mace::wigner_3j(1, 2, 3);
  CHECK(cross[5] == Approx(1.0 / std::sqrt(6.0)));
  CHECK(cross[7] == Approx(-1.0 / std::sqrt(6.0)));
  CHECK(symmetric[2] == Approx(-0.18257418583505536));
  CHECK(symmetric[4] == Approx(-0.3162277660168379));
  CHECK(third[4] == Approx(-0.06900655593423542));
}

TEST_CASE("mace: the envelope falls to zero with its slope") {
  double value = 1.0, slope = 1.0, above = 0.0, below = 0.0, unused = 0.0;
  mace::envelope(5.0, 5.0, 6, value, slope);
  CHECK(std::abs(value) < 1e-12);
  CHECK(std::abs(slope) < 1e-12);
  mace::envelope(3.0, 5.0, 6, value, slope);
  mace::envelope(3.0 + 1e-5, 5.0, 6, above, unused);
  mace::envelope(3.0 - 1e-5, 5.0, 6, below, unused);
  CHECK((above - below) / 2e-5 == Approx(slope).epsilon(1e-8));
}
