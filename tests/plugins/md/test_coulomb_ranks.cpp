// Long-range sums of charges, divided among ranks, in a sum with repulsion.
#include "tests/plugins/md/same_on_ranks.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::test;

static std::string salt(const std::string& keys) {
  return "structure: {lattice: {type: rock_salt, a: 5.64, cells: [5, 3, 3], species: [Na, Na, Na, Na, Cl, Cl, Cl, Cl], "
         "displacement: 0.1}}\n"
         "potential:\n"
         "  type: sum\n"
         "  terms:\n"
         "    - {type: coulomb, charges: {Na: 1, Cl: -1}, cutoff: 7, " +
         keys +
         "}\n"
         "    - type: born_mayer\n"
         "      cutoff: 7\n"
         "      truncation: smooth\n"
         "      pairs:\n"
         "        - {species: [Na, Na], a: 0.2637, rho: 0.317, sigma: 2.340, c: 1.0486, d: 0.4993}\n"
         "        - {species: [Na, Cl], a: 0.2110, rho: 0.317, sigma: 2.755, c: 6.9906, d: 8.6758}\n"
         "        - {species: [Cl, Cl], a: 0.1582, rho: 0.317, sigma: 3.170, c: 72.4022, d: 145.4285}\n"
         "initial_temperature: 600\n";
}

TEST_CASE("a mesh of charges gives the same on any number of ranks") { check_ranks(salt("accuracy: 1e-5"), 10, 1e-10); }

TEST_CASE("an Ewald sum by waves gives the same on any number of ranks") {
  check_ranks(salt("method: ewald, accuracy: 1e-4"), 5, 1e-10);
}

TEST_CASE("the damped shifted force gives the same on any number of ranks") {
  check_ranks(salt("method: dsf"), 5, 1e-10);
}

TEST_CASE("dynamics with charges conserve energy and resume to the last bit") {
  if (Comm().size() > 1) return;
  const Scratch scratch("coulomb_resumed");
  const std::string deck = salt("accuracy: 1e-5");
  MdRun whole(deck);
  const double before = whole.measure()[conserved];
  whole.advance(100);
  CHECK(std::abs(whole.measure()[conserved] - before) / whole.count() < 1e-4);
  whole.write_checkpoint(scratch.file("half.h5"));
  whole.advance(10);
  MdRun second(deck, scratch.file("half.h5"));
  second.advance(10);
  CHECK(second.measure() == whole.measure());
}
