// Potentials of files, divided among ranks: two passes with an exchange between them, and forces of ghosts.
#include <cstdlib>
#include <iostream>

#include "tests/plugins/md/same_on_ranks.hpp"

using namespace cambium;
using namespace cambium::test;

TEST_CASE("an embedded-atom table gives the same on any number of ranks") {
  check_ranks(
      "structure: {lattice: {type: fcc, a: 3.615, cells: [6, 4, 4], species: [Cu], displacement: 0.2}}\n"
      "potential: {type: eam, file: " CAMBIUM_SOURCE_DIR
      "/inputs/md/cu_sutton_chen.eam.alloy}\n"
      "initial_temperature: 900\n",
      10, 1e-10);
}

TEST_CASE("an atomic cluster expansion gives the same on any number of ranks") {
  check_ranks(
      "structure: {lattice: {type: fcc, a: 3.615, cells: [6, 4, 4], species: [Cu], displacement: 0.2}}\n"
      "potential: {type: pace, file: " CAMBIUM_SOURCE_DIR
      "/inputs/md/copper.yace}\n"
      "initial_temperature: 900\n",
      10, 1e-10);
}

TEST_CASE("a neuroevolution potential gives the same on any number of ranks", "[data]") {
  const char* data = std::getenv("CAMBIUM_DATA");
  if (!data) {
    std::cout << "SKIPPED: the model nep.txt on several ranks: CAMBIUM_DATA is not set\n";
    return;
  }
  check_ranks(
      "structure: {lattice: {type: fcc, a: 5.2, cells: [6, 4, 4], species: [Pb, Te, Te, Pb], displacement: 0.1}}\n"
      "potential: {type: nep, file: " +
          std::string(data) + "/models/nep/nep.txt}\ninitial_temperature: 300\n",
      5, 1e-10);
}
