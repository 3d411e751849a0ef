// Features of neighbours that cross ranks: models of several interactions give on many ranks what they give on one.
#include <fmt/format.h>

#include "tests/plugins/mace/random_mace.hpp"
#include "tests/plugins/md/same_on_ranks.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::test;

namespace {

void check_model(const RandomMace& model, const std::string& cells, const std::string& precision = "float64",
                 double tolerance = 1e-10, double pressure_tolerance = 1e-9) {
  Comm comm;
  const SharedScratch scratch(comm);
  const auto file = scratch.file("random.model");
  if (comm.root()) model.write(file);
  comm.barrier();
  INFO(cells);
  check_ranks(
      fmt::format("structure: {{lattice: {{type: diamond, a: 4.4, cells: {}, species: [O], displacement: 0.2}}}}\n"
                  "potential: {{type: mace, model: {}, precision: {}}}\ninitial_temperature: 300\ntimestep: 0.0002\n",
                  cells, file, precision),
      4, tolerance, pressure_tolerance);
}

}  // namespace

TEST_CASE("mace: interactions exchange features of neighbours between ranks") {
  check_model(RandomMace(2), "[4, 1, 1]");
  check_model(RandomMace(2), "[3, 2, 2]");
  check_model(RandomMace(3, 2, false), "[4, 2, 1]");
}

TEST_CASE("mace in single precision: the same on many ranks within its rounding") {
  check_model(RandomMace(2), "[3, 2, 2]", "float32", 2e-5, 1e-7);
}

namespace {

/// Root mean square of the conserved energy (eV) about its mean over 20 fs.
double fluctuation(const std::string& file, const std::string& precision, double timestep) {
  MdRun run(
      fmt::format(
          "structure: {{lattice: {{type: diamond, a: 4.4, cells: [2, 1, 1], species: [O], displacement: 0.05}}}}\n"
          "potential: {{type: mace, model: {}, precision: {}}}\ninitial_temperature: 300\ntimestep: {}\n",
          file, precision, timestep),
      1, MPI_COMM_SELF);
  const auto energies = column(run.record(static_cast<int>(std::lround(0.02 / timestep)), 1), conserved);
  return std::sqrt(variance(energies));
}

}  // namespace

TEST_CASE("mace in single precision: at constant energy the fluctuation falls with the square of the time step") {
  Comm comm;
  const SharedScratch scratch(comm);
  const auto file = scratch.file("random.model");
  if (comm.root()) RandomMace(2).write(file);
  comm.barrier();
  const double coarse = fluctuation(file, "float32", 2e-4), fine = fluctuation(file, "float32", 1e-4),
               exact = fluctuation(file, "float64", 1e-4);
  INFO("fluctuation " << coarse << " and " << fine << " eV, in float64 " << exact << " eV");
  CHECK(coarse / fine > 3.3);
  CHECK(coarse / fine < 4.7);
  CHECK(fine / exact > 0.9);
  CHECK(fine / exact < 1.1);
}
