// Molecular dynamics with archives on several ranks: message passing through ghosts gives what one rank alone gives.
#include <fmt/format.h>

#include <cstdlib>
#include <iostream>

#include "tests/catch.hpp"
#include "tests/plugins/md/md_run.hpp"
#include "tests/plugins/torch_potential/written_archives.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::test;

namespace {

/// Largest difference of components by tag; `all` holds every atom, `part` those of this rank and zeros.
double difference(const std::vector<std::array<double, 3>>& all, std::vector<std::array<double, 3>> part, Comm& comm) {
  double worst = 0.0;
  part.resize(all.size());
  std::vector<double> flat;
  for (const auto& row : part) flat.insert(flat.end(), row.begin(), row.end());
  comm.sum(flat);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) worst = std::max(worst, std::abs(all[i][k] - flat[3 * i + k]));
  return worst;
}

/// Energies, pressures and forces of a few steps on all ranks and on one alone.
void check_ranks(const std::string& deck, int steps, double tolerance) {
  Comm comm;
  MdRun together(deck), alone(deck, 1, MPI_COMM_SELF);
  together.advance(steps);
  alone.advance(steps);
  const auto a = together.measure(), b = alone.measure();
  CHECK(a[potential] == Approx(b[potential]).epsilon(0).margin(tolerance * std::max(1.0, std::abs(b[potential]))));
  CHECK(a[pressure] == Approx(b[pressure]).epsilon(1e-9).margin(1e-4));
  const auto mine = together.atoms(), all = alone.atoms();
  CHECK(difference(all.f, mine.f, comm) < tolerance);
  CHECK(difference(all.x, mine.x, comm) < tolerance);
}

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
  for (const int cells : {1, 2, 3}) {  // ghosts 9 Å deep and a skin: three, two and one images
    INFO(cells);
    check_ranks(deck_of(file, fmt::format("{{lattice: {{type: fcc, a: 3.4, cells: [{0}, {0}, {0}], species: [Ag], "
                                          "displacement: 0.3}}}}",
                                          cells)),
                10, 1e-10);
  }
}

TEST_CASE("the error of the total energy falls with the square of the time step") {
  Comm comm;
  const SharedScratch scratch(comm);
  const auto file = scratch.file("copper.pth");
  if (comm.root()) write_archive(file, sutton_chen_text(), said("Cu", 6.0, 1));
  comm.barrier();
  const auto deck =
      deck_of(file, "{lattice: {type: fcc, a: 3.65, cells: [2, 2, 2], species: [Cu], displacement: 0.2}}");
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
      deck_of(file, "{lattice: {type: fcc, a: 3.65, cells: [3, 3, 3], species: [Cu], displacement: 0.2}}");
  if (comm.size() == 1) return check_ranks(deck, 2, 1e-10);
  try {
    MdRun run(deck);
    FAIL("no error");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()) == file + ": gives no energies of atoms, only their sum; run it on one rank");
  }
}

TEST_CASE("MACE's copper is the same on any number of ranks", "[data]") {
  const char* data = std::getenv("CAMBIUM_DATA");
  if (!data) {
    std::cout << "SKIPPED: MACE on several ranks: CAMBIUM_DATA is not set\n";
    return;
  }
  const std::string folder = std::string(data) + "/models/";
  check_ranks(deck_of(folder + "MACE_scratch_run-3.model-cp2k.pth", "{file: " + folder + "mace-test.xyz}"), 3, 1e-10);
}
