// SMILES that RDKit writes in other ways have the atoms, bonds, charges and hydrogens that it reads, and the same
// fragments.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "plugins/relate/chemistry/fragments.hpp"
#include "plugins/relate/chemistry/hydrogens.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::relate;

namespace {

/// What is compared with RDKit.
struct Sums {
  std::size_t atoms = 0, bonds = 0;
  int charge = 0, hydrogens = 0;
  bool operator==(const Sums&) const = default;
};

Sums sums_of(const MoleculeGraph& molecule) {
  Sums out{molecule.atoms.size(), molecule.bonds.size(), 0, 0};
  const auto orders = orders_of(molecule);
  for (std::size_t a = 0; a < molecule.atoms.size(); ++a) {
    const auto& atom = molecule.atoms[a];
    out.charge += atom.charge;
    out.hydrogens += atom.hydrogens >= 0 ? atom.hydrogens : std::max(0, usual_hydrogens(atom, orders[a]));
  }
  return out;
}

/// Lines of the script; empty, and said, without RDKit.
std::vector<std::string> spellings() {
  const Scratch scratch("smiles");
  std::vector<std::string> out;
  for (const char* python : {"/usr/bin/python3", "python3"}) {
    const auto list = scratch.file("list.txt");
    const auto command =
        fmt::format("{} " CAMBIUM_SOURCE_DIR "/tests/plugins/relate/smiles_of_rdkit.py > {} 2>/dev/null", python, list);
    if (std::system(command.c_str()) != 0) continue;
    std::ifstream in(list);
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
  }
  std::cout << "SKIPPED: spellings of SMILES: no python3 with RDKit (Debian: python3-rdkit)\n";
  return out;
}

}  // namespace

TEST_CASE("five hundred ways to write molecules, by RDKit") {
  for (const auto& line : spellings()) {
    std::istringstream words(line);
    std::string canonical, spelling;
    Sums expected;
    std::getline(words, canonical, '\t'), std::getline(words, spelling, '\t');
    words >> expected.atoms >> expected.bonds >> expected.charge >> expected.hydrogens;
    INFO(canonical << " as " << spelling);
    const auto one = parse_smiles(canonical), other = parse_smiles(spelling);
    const auto found = sums_of(one);
    CHECK(found == expected);
    CHECK(sums_of(other) == expected);
    for (const int radius : {0, 1, 2, 3})
      CHECK(fragment_rows(one, radius, 1000000) == fragment_rows(other, radius, 1000000));
  }
}
