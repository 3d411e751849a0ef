// The reference frame of a published MACE model, evaluated by PyTorch; see CAMBIUM_DATA/models/README.md.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "plugins/mace/potentials/mace.hpp"
#include "tests/plugins/md/potential_check.hpp"

using namespace cambium;
using namespace cambium::test;

namespace {

/// Allowed errors of the energy (eV), a force (eV/Å) and the virial (eV).
void check_reference(mace::Precision precision, double energy_error, double force_error, double virial_error) {
  const char* data = std::getenv("CAMBIUM_DATA");
  if (!data) {
    std::cout << "SKIPPED: MACE reference frame: CAMBIUM_DATA is not set\n";
    return;
  }
  const std::string folder = std::string(data) + "/models/";
  const auto refs = nlohmann::json::parse(std::ifstream(folder + "refs.json")).at("mace");
  std::ifstream xyz(folder + refs.at("structure").get<std::string>());
  int atoms = 0;
  std::string line, symbol;
  xyz >> atoms;
  std::getline(xyz, line);
  std::getline(xyz, line);
  World world;
  PotentialCase c;
  const auto cell = refs.at("cell_A").get<std::vector<std::vector<double>>>();
  c.box = Box::orthogonal(cell[0][0], cell[1][1], cell[2][2]);
  for (int i = 0; i < atoms; ++i) {
    Position p;
    xyz >> symbol >> p[0] >> p[1] >> p[2];
    c.positions.push_back(p);
  }
  c.types.assign(c.positions.size(), 0);
  c.species = {{"Cu", 63.546}};
  c.potential = std::make_unique<mace::Mace>(mace::Mace::Params{folder + refs.at("file").get<std::string>(), precision},
                                             world.context);
  c.potential->bind(c.species);
  CHECK(c.potential->cutoff() == refs.at("r_max").get<double>());
  auto s = c.system();
  const Evaluation found = c.evaluate(s, world);
  INFO("energy error " << found.energy - refs.at("energy_eV").get<double>() << " eV");
  CHECK(std::abs(found.energy - refs.at("energy_eV").get<double>()) < energy_error);
  const auto forces = refs.at("forces_eV_per_A").get<std::vector<std::vector<double>>>();
  const auto virial = refs.at("virial_eV").get<std::vector<std::vector<double>>>();
  double worst = 0.0, worst_virial = 0.0;
  for (std::size_t i = 0; i < forces.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) worst = std::max(worst, std::abs(found.forces[i][k] - forces[i][k]));
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b)
      worst_virial = std::max(worst_virial, std::abs(found.virial[3 * a + b] - virial[a][b]));
  INFO("worst force error " << worst << " eV/Å, virial " << worst_virial << " eV");
  CHECK(worst < force_error);
  CHECK(worst_virial < virial_error);
}

}  // namespace

TEST_CASE("mace: energy, forces and virial of PyTorch", "[data]") {
  check_reference(mace::Precision::float64, 1e-9, 1e-11, 1e-9);
}
TEST_CASE("mace in single precision: energy, forces and virial of PyTorch in double", "[data]") {
  check_reference(mace::Precision::float32, 1e-6, 1e-6, 1e-5);
}
