// Molecular dynamics at constant energy by a model with random weights.
#include <fmt/format.h>

#include "tests/catch.hpp"
#include "tests/plugins/graph/potentials/random_messages.hpp"
#include "tests/plugins/md/md_run.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::test;

TEST_CASE("message_passing potential: no drift of the energy at constant energy") {
  const Scratch scratch;
  const auto file = scratch.file("model.h5");
  RandomMessages(2).write(file);
  const auto drift = [&](double timestep, int steps) {
    MdRun run(fmt::format(
        "structure: {{lattice: {{type: diamond, a: 4.4, cells: [2, 2, 2], species: [O], displacement: 0.1}}}}\n"
        "potential: {{type: message_passing, model: {}}}\ninitial_temperature: 300\ntimestep: {}\n",
        file, timestep));
    const double before = run.measure()[conserved];
    double worst = 0.0;
    for (int k = 0; k < steps; ++k) {
      run.advance(1);
      worst = std::max(worst, std::abs(run.measure()[conserved] - before));
    }
    return worst;
  };
  const double coarse = drift(0.001, 50), fine = drift(0.0005, 100);
  CHECK(coarse < 1e-3);
  CHECK(fine == Approx(coarse / 4.0).epsilon(0.2));  // velocity Verlet is of second order
}
