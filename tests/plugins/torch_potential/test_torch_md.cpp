// Molecular dynamics with archives on several ranks: message passing through ghosts gives what one rank alone gives.
#include <fmt/format.h>

#include <cstdlib>
#include <iostream>

#include "tests/catch.hpp"
#include "tests/plugins/md/same_on_ranks.hpp"
#include "tests/plugins/torch_potential/written_archives.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::test;

namespace {

std::string deck_of(const std::string& file, const std::string& structure) {
  return "structure: " + structure + "\npotential: {type: torch_script, model: " + file +
         ", trust: true, energy_unit: eV, length_unit: angstrom}\ninitial_temperature: 900\n";
}

}  // namespace

TEST_CASE("three layers of messages are the same on any number of ranks, in cells of one to four images") {
  Comm comm;
  const SharedScratch scratch(comm);
  const auto file = scratch.file("messages.pth");
  if (comm.root()) write_archive(file, messages_text(), said("Cu Ag", 3.0, 3));
  comm.barrier();
  // Ghosts lie 9 Å deep, with a skin of 1 Å, in a cell that is long enough to be divided along a alone.
  for (const auto& [a, cells] :
       {std::pair{2.6, "[8, 1, 1]"}, {3.4, "[6, 1, 1]"}, {3.4, "[6, 2, 2]"}, {3.5, "[6, 3, 3]"}}) {
    INFO(cells);
    check_ranks(
        deck_of(file, fmt::format("{{lattice: {{type: fcc, a: {}, cells: {}, species: [Ag], displacement: 0.3}}}}", a,
                                  cells)),
        5, 1e-10);
  }
}

TEST_CASE("the error of the total energy falls with the square of the time step") {
  Comm comm;
  const SharedScratch scratch(comm);
  const auto file = scratch.file("copper.pth");
  if (comm.root()) write_archive(file, sutton_chen_text(), said("Cu", 6.0, 1));
  comm.barrier();
  const auto deck =
      deck_of(file, "{lattice: {type: fcc, a: 3.65, cells: [4, 2, 2], species: [Cu], displacement: 0.2}}");
  double wobble[2];
  for (int halved = 0; halved < 2; ++halved) {
    MdRun run(deck + fmt::format("timestep: {}\n", halved ? 0.002 : 0.004));
    const auto energy = column(run.record(halved ? 200 : 100, 1), conserved);
    double mean = 0.0, sum = 0.0;
    for (const double e : energy) mean += e / static_cast<double>(energy.size());
    for (const double e : energy) sum += (e - mean) * (e - mean) / static_cast<double>(energy.size());
    wobble[halved] = std::sqrt(sum);
  }
  CHECK(wobble[0] / wobble[1] == Approx(4.0).epsilon(0.2));
}

TEST_CASE("an archive without energies of atoms runs on one rank, and says why not on more") {
  Comm comm;
  const SharedScratch scratch(comm);
  const auto file = scratch.file("total.pth");
  auto text = sutton_chen_text();
  const std::string atomic = "    out[\"atomic_energy\"] = energy.unsqueeze(1)\n";
  text.erase(text.find(atomic), atomic.size());
  if (comm.root()) write_archive(file, text, said("Cu", 6.0, 1));
  comm.barrier();
  const auto deck =
      deck_of(file, "{lattice: {type: fcc, a: 3.65, cells: [4, 2, 2], species: [Cu], displacement: 0.2}}");
  if (comm.size() == 1) return check_ranks(deck, 2, 1e-10);
  try {
    MdRun run(deck);
    FAIL("no error");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()) == file + ": gives no energies of atoms, only their sum; run it on one rank");
  }
}

TEST_CASE("an archive of nobody known runs on one rank alone") {
  Comm comm;
  const SharedScratch scratch(comm);
  const auto file = scratch.file("unknown.pth");
  auto words = said("Cu", 6.0, 1);
  words.erase("nequip_version");
  if (comm.root()) write_archive(file, sutton_chen_text(), words);
  comm.barrier();
  const auto deck = deck_of(file, "{lattice: {type: fcc, a: 3.65, cells: [4, 2, 2], species: [Cu]}}");
  if (comm.size() == 1) return check_ranks(deck, 2, 1e-10);
  try {
    MdRun run(deck);
    FAIL("no error");
  } catch (const InputError& error) {
    const std::string text = error.what();
    INFO(text);
    CHECK(text.find("the archive " + file +
                    " does not name its kind (MACE, NequIP, Allegro), so at which atom of an edge it adds messages "
                    "is not known; "
                    "run it on one rank") != std::string::npos);
  }
}

TEST_CASE("MACE's copper is the same on any number of ranks", "[data]") {
  const char* data = std::getenv("CAMBIUM_DATA");
  if (!data) {
    std::cout << "SKIPPED: MACE on several ranks: CAMBIUM_DATA is not set\n";
    return;
  }
  const auto model = std::string(data) + "/models/MACE_scratch_run-3.model-cp2k.pth";
  check_ranks(deck_of(model, "{lattice: {type: fcc, a: 3.615, cells: [4, 1, 1], species: [Cu], displacement: 0.2}}"), 3,
              1e-10);
}
