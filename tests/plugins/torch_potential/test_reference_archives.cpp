// Archives of MACE and NequIP against numbers that LibTorch 1.13.1 gives for them in Python; see
// CAMBIUM_DATA/README.md.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/plugin/registry.hpp"
#include "plugins/plugin_list.hpp"
#include "tests/plugins/md/potential_check.hpp"

using namespace cambium;
using namespace cambium::test;

namespace {

struct Reference {
  nlohmann::json values;
  PotentialCase one;
};

std::optional<Reference> reference(const std::string& name, const std::vector<Species>& species,
                                   const std::string& keys, World& world, Registry& registry) {
  const char* data = std::getenv("CAMBIUM_DATA");
  if (!data) {
    std::cout << "SKIPPED: reference archives: CAMBIUM_DATA is not set\n";
    return std::nullopt;
  }
  const std::string folder = std::string(data) + "/models/";
  Reference out;
  out.values = nlohmann::json::parse(std::ifstream(folder + "refs.json"))[name];
  std::ifstream file(folder + out.values["structure"].get<std::string>());
  std::string line;
  std::getline(file, line);
  const int atoms = std::stoi(line);
  std::getline(file, line);
  for (int i = 0; i < atoms; ++i) {
    std::string symbol;
    Position x;
    file >> symbol >> x[0] >> x[1] >> x[2];
    out.one.positions.push_back(x);
    out.one.types.push_back(symbol == species[0].symbol ? 0 : 1);
  }
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) out.one.box.h[i][j] = out.values["cell_A"][i][j];
  out.one.species = species;
  register_plugins(registry);
  world.context.registry = &registry;
  const auto model = folder + out.values["file"].get<std::string>();
  out.one.potential = registry.make<Potential>(
      "torch_script", deck::parse("{model: " + model + ", trust: true" + keys + "}", "test"), world.context);
  out.one.potential->bind(species);
  return out;
}

void compare(Reference& r, World& world, double energy, double force, double virial) {
  auto system = r.one.system();
  const auto got = r.one.evaluate(system, world);
  CHECK(got.energy == Approx(r.values["energy_eV"].get<double>()).epsilon(0).margin(energy));
  double worst = 0.0;
  for (std::size_t i = 0; i < got.forces.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k)
      worst = std::max(worst, std::abs(got.forces[i][k] - r.values["forces_eV_per_A"][i][k].get<double>()));
  CHECK(worst < force);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      CHECK(got.virial[3 * i + j] == Approx(r.values["virial_eV"][i][j].get<double>()).epsilon(0).margin(virial));
}

}  // namespace

TEST_CASE("MACE's copper: energy, forces and virial to 1e-9", "[data]") {
  World world;
  Registry registry;
  auto r = reference("mace", {{"Cu", 63.546}}, "", world, registry);
  if (!r) return;
  CHECK(r->one.potential->summary().find("MACE; H C O Al Fe Cu Zn Ga Rh Pd Pt; cut-off 5 Å; strictly local; float64") !=
        std::string::npos);
  compare(*r, world, 1e-9, 1e-9, 1e-9);
}

TEST_CASE("NequIP's water: to the rounding of float32", "[data]") {
  World world;
  Registry registry;
  auto r =
      reference("nequip", {{"O", 15.999}, {"H", 1.008}}, ", energy_unit: eV, length_unit: angstrom", world, registry);
  if (!r) return;
  CHECK(r->one.potential->summary().find("NequIP; H O; cut-off 4 Å") != std::string::npos);
  compare(*r, world, 2e-3, 2e-4, 2e-3);
}

TEST_CASE("energies of NequIP's water taken for hartree are noticed by their forces", "[data]") {
  World world;
  Registry registry;
  auto r = reference("nequip", {{"O", 15.999}, {"H", 1.008}}, ", energy_unit: hartree, length_unit: angstrom", world,
                     registry);
  if (!r) return;
  auto system = r->one.system();
  r->one.evaluate(system, world);
  const auto warnings = world.log.warnings();
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].text.find(
            "which is much: are energy_unit and length_unit right? Hartree for eV makes them 27.2 times "
            "too large, bohr for Å moves atoms to 0.529 of their distances") != std::string::npos);
}

TEST_CASE("lengths of NequIP's water taken for bohr are noticed by the cut-off", "[data]") {
  World world;
  Registry registry;
  auto r = reference("nequip", {{"O", 15.999}, {"H", 1.008}}, ", energy_unit: eV, length_unit: bohr", world, registry);
  if (!r) return;
  const auto warnings = world.log.warnings();
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].text.find("its cut-off is 2.12 Å, which is unusual: is length_unit right?") != std::string::npos);
}
