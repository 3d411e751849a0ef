// Models through the KIM API: a model of the tests in other units, which asks for neighbours of ghosts; models of
// OpenKIM where they are installed; what cannot be used.
#include <iostream>

#include "core/base/constants.hpp"
#include "plugins/kim/model/installed.hpp"
#include "plugins/kim/potentials/kim.hpp"
#include "tests/plugins/md/potential_check.hpp"
#include "tests/plugins/md/same_on_ranks.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::test;

namespace {

constexpr double bohr = 0.529177210903, hartree = 27.211386245988;

/// Atoms of a skew cell narrower than twice the influence distance, so that an atom meets several images of another.
PotentialCase crystal(const std::string& model, std::vector<Species> species, World& world) {
  PotentialCase c;
  const double rows[3][3] = {{4.9, 0, 0}, {0.4, 5.1, 0}, {-0.3, 0.5, 5.6}};
  c.box = Box::from_vectors(rows);
  c.positions = {{0.1, 0.2, 0.3}, {2.4, 0.4, 0.2}, {0.3, 2.6, 0.6}, {0.2, 0.1, 2.9},
                 {2.7, 2.6, 1.1}, {2.5, 0.3, 3.3}, {0.5, 3.0, 3.8}};
  for (std::size_t i = 0; i < c.positions.size(); ++i) c.types.push_back(static_cast<int>(i % species.size()));
  c.species = std::move(species);
  c.potential = std::make_unique<kim::Kim>(kim::Kim::Params{model}, world.context);
  c.potential->bind(c.species);
  c.gradient_step = 2e-4;
  return c;
}

/// `length`, `unit`: of the model, in Å and eV.
double energy_of_densities(const PeriodicSystem& s, double length, double unit) {
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), s.particles.x);
  const double cutoff = 5.0 * length;
  const auto w = [&](int i, int j) {
    double r2 = 0.0;
    for (int a = 0; a < 3; ++a) r2 += (x(j, a) - x(i, a)) * (x(j, a) - x(i, a));
    return i != j && r2 < cutoff * cutoff ? std::pow(1.0 - r2 / (cutoff * cutoff), 3) : 0.0;
  };
  std::vector<double> rho(static_cast<std::size_t>(s.particles.total()), 0.0);
  for (int j = 0; j < s.particles.total(); ++j)
    for (int k = 0; k < s.particles.total(); ++k) rho[static_cast<std::size_t>(j)] += w(j, k);
  double energy = 0.0;
  for (int i = 0; i < s.particles.nlocal; ++i)
    for (int j = 0; j < s.particles.total(); ++j) energy += unit * w(i, j) * rho[static_cast<std::size_t>(j)];
  return energy;
}

}  // namespace

TEST_CASE("kim: a model in hartree and bohr that asks for neighbours of ghosts") {
  World world;
  auto c = crystal("test_density__MO_000000000001_000", {{"Si", 28.0855}}, world);
  CHECK(c.potential->cutoff() == Approx(1.05 * 10.0 * bohr));
  c.oracle = [](const PeriodicSystem& s) { return energy_of_densities(s, bohr, hartree); };
  check_potential(c, world);
}

TEST_CASE("kim: a model in mechanical units") {
  World world;
  auto c = crystal("MO_000000000005", {{"Si", 28.0855}}, world);
  c.oracle = [](const PeriodicSystem& s) { return energy_of_densities(s, 1.0, constants::mvv2e); };
  check_energy_against_oracle(c, world);
  check_forces_are_gradient(c, world);
}

TEST_CASE("kim: a model that atoms slightly beyond its influence distance act on") {
  World world;
  auto c = crystal("test_reaching__MO_000000000006_000", {{"Si", 28.0855}}, world);
  c.skin = 0.0;  // single evaluations have none
  c.oracle = [](const PeriodicSystem& s) { return energy_of_densities(s, bohr, hartree); };
  check_potential(c, world);
}

TEST_CASE("kim: a model with energies of atoms, but without their virials") {
  World world;
  auto c = crystal("test_energies_only__MO_000000000007_000", {{"Si", 28.0855}}, world);
  auto s = c.system();
  const auto found = c.evaluate(s, world, {.totals = true, .per_atom = true, .only_energies = true});
  CHECK(std::accumulate(found.atom_energy.begin(), found.atom_energy.end(), 0.0) ==
        Approx(found.energy).epsilon(1e-12));
  CHECK(found.energy == Approx(energy_of_densities(s, bohr, hartree)).epsilon(1e-12));
  CHECK_THAT(message([&] { c.evaluate(s, world); }),
             Catch::Matchers::Contains("gives no virials of single atoms; leave out what needs them (stress of atoms, "
                                       "heat current)"));
}

TEST_CASE("kim: ranks agree") {
  check_ranks(
      "structure: {lattice: {type: diamond, a: 5.43, cells: [5, 2, 2], species: [Si], displacement: 0.2}}\n"
      "potential: {type: kim, model: MO_000000000001}\ninitial_temperature: 300\ntimestep: 0.0002\n",
      4, 1e-10);
}

TEST_CASE("kim: models of OpenKIM") {
  World world;
  int checked = 0;
  for (const auto& [code, species] : {std::pair<const char*, std::vector<Species>>{"MO_405512056662", {{"Si", 28.1}}},
                                      {"MO_123629422045", {{"Al", 27.0}}},
                                      {"MO_171585019474", {{"Si", 28.1}, {"C", 12.0}}}}) {
    const auto names = kim::installed_models();
    const bool here = std::any_of(names.begin(), names.end(),
                                  [&, wanted = std::string(code)](const auto& n) { return n.find(wanted) != n.npos; });
    if (!here) continue;
    ++checked;
    INFO(code);
    auto c = crystal(code, species, world);
    check_virial_is_strain_derivative(c, world);
    check_invariances(c, world);
    check_outputs_agree(c, world);
  }
  if (checked == 0) std::cout << "SKIPPED: models of OpenKIM: none are installed (Debian: openkim-models)\n";
}

TEST_CASE("kim: what cannot be used is refused") {
  World world;
  const auto refusal = [&](const std::string& model) {
    return message([&] { kim::Kim(kim::Kim::Params{model}, world.context); });
  };
  using Catch::Matchers::Contains;
  CHECK(refusal("test_no_forces__MO_000000000002_000") ==
        "the KIM model test_no_forces__MO_000000000002_000 gives no forces");
  CHECK_THAT(refusal("MO_000000000003"), Contains("demands ProcessDEDrTerm, which is not offered here"));
  CHECK_THAT(refusal("MO_000000000009_001"),
             Contains("cannot be started: its library or its parameters are damaged or of another version of the KIM "
                      "API; install it again"));
  CHECK_THAT(refusal("test_density__MO_000000000001_005"),
             Contains("no KIM model test_density__MO_000000000001_005 is installed; among the") &&
                 Contains("that are: test_density__MO_000000000001_000") &&
                 Contains(". Install it by kim-api-collections-management install user NAME"));
  CHECK(refusal("MO_000000000009") ==
        "MO_000000000009 is the name or code of several KIM models: test_damaged__MO_000000000009_000, "
        "test_damaged__MO_000000000009_001; give one of them");
  CHECK_THAT(refusal("test_damaged__MO_000000000009"),
             Contains("test_damaged__MO_000000000009 is the name or code of several KIM models"));
  CHECK_THAT(refusal("test_density__MO_00000000000"), Contains("no KIM model test_density__MO_00000000000 is"));
  CHECK(kim::installed_model("test_density__MO_000000000001") == "test_density__MO_000000000001_000");
  CHECK_THAT(
      refusal("SM_000000000008"),
      Contains("is a simulator model, a script for another program such as LAMMPS; only portable models (MO_...) "
               "run here"));
  CHECK_THAT(refusal("test_formula__MD_000000000007_000"),
             Contains("is a model driver, a formula without parameters; give a model (MO_...) that uses it"));
  kim::Kim fine(kim::Kim::Params{"MO_000000000001"}, world.context);
  const std::vector<Species> copper = {{"Cu", 63.5}};
  CHECK(message([&] { fine.bind(copper); }) ==
        "species 'Cu' is unknown to the KIM model test_density__MO_000000000001_000; its species: Si");
  auto failing = crystal("MO_000000000004", {{"Si", 28.1}}, world);
  auto s = failing.system();
  CHECK_THAT(message([&] { failing.evaluate(s, world, {true, false}); }), Contains("cannot compute these atoms"));
  CHECK_THAT(
      message([&] { failing.evaluate(s, world); }),
      Contains("gives no energies of single atoms; leave out what needs them (energies of atoms, heat current)"));
}

TEST_CASE("kim: without models the message says where they are") {
  const std::string folder = std::getenv("KIM_API_PORTABLE_MODELS_DIR");
  setenv("KIM_API_PORTABLE_MODELS_DIR", "", 1);
  World world;
  const auto refused = message([&] { kim::Kim(kim::Kim::Params{"MO_000000000001"}, world.context); });
  if (kim::installed_models().empty())
    CHECK(refused ==
          "no KIM models are installed (Debian package: openkim-models; single ones: kim-api-collections-management "
          "install user NAME)");
  else
    CHECK_THAT(refused, Catch::Matchers::Contains("no KIM model MO_000000000001 is installed"));
  setenv("KIM_API_PORTABLE_MODELS_DIR", folder.c_str(), 1);
}
