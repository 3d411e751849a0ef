// Minimisation, and atoms that are held where they are.
#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/io/checkpoint.hpp"
#include "core/io/structures/lammps_data_writer.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/md/argon.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::test;

namespace {

const std::string argon = R"(
potential: {type: lennard_jones, epsilon: 0.010323, sigma: 3.405, cutoff: 7.0, truncation: smooth}
)";
const std::string copper = "\npotential: {type: sutton_chen, element: Cu, cutoff: 6.0}\n";

std::string crystal(const std::string& species, double a, double displacement) {
  return fmt::format(
      "structure: {{lattice: {{type: fcc, a: {}, cells: [4, 4, 4], species: [{}], displacement: {}}}}}\n", a, species,
      displacement);
}

/// Steps until the run says that it has converged.
int relax(MdRun& run, int most) {
  int steps = 0;
  while (!run.physics().finished() && steps < most) run.advance(1), ++steps;
  return steps;
}

void check_relaxation(const std::string& potential_keys, const std::string& species, double a) {
  MdRun perfect(potential_keys + crystal(species, a, 0.0));
  const double lattice = perfect.measure()[potential];
  MdRun run(potential_keys + crystal(species, a, 0.15) + "integrator: {type: fire, force_tolerance: 1e-5}\n");
  REQUIRE(run.measure()[potential] > lattice + 1e-3 * run.count());
  REQUIRE_FALSE(run.physics().finished());
  const int steps = relax(run, 3000);
  CHECK(run.physics().finished());
  const double left = (run.measure()[potential] - lattice) / run.count();
  fmt::print("{}: {} steps of FIRE, {:.2g} eV/atom above the lattice\n", species, steps, left);
  CHECK(std::abs(left) < 1e-8);
}

double largest_move(const Atoms& a, const Atoms& b, std::size_t first, std::size_t last) {
  double worst = 0.0;
  for (std::size_t i = first; i < last; ++i)
    for (int k = 0; k < 3; ++k) worst = std::max(worst, std::abs(a.x[i][k] - b.x[i][k]));
  return worst;
}

}  // namespace

TEST_CASE("a crystal out of place finds back to the energy of the lattice") {
  check_relaxation(argon, "Ar", 5.3);
  check_relaxation(copper, "Cu", 3.61);
}

TEST_CASE("a minimiser that starts in the minimum stops there") {
  MdRun run(copper + crystal("Cu", 3.61, 0.0) + "integrator: {type: fire}\n");
  CHECK(run.physics().finished());
}

TEST_CASE("frozen atoms do not move at all and carry no heat") {
  // 256 atoms: tags 1 to 64 are held.
  const std::string held = "groups: {wall: {tags: [[1, 64]]}}\nfrozen: [wall]\n";
  for (const char* integrator :
       {"{type: nve}", "{type: langevin, temperature: 60}", "{type: csvr, temperature: 60}", "{type: fire}"}) {
    INFO(integrator);
    MdRun run(argon + crystal("Ar", 5.3, 0.1) + held +
              fmt::format("integrator: {}\ninitial_temperature: 60\ntimestep: 0.005\n", integrator));
    const Atoms start = run.atoms();
    run.advance(200);
    const Atoms end = run.atoms();
    CHECK(largest_move(start, end, 0, 64) == 0.0);
    CHECK(largest_move(start, end, 64, 256) > 0.05);
  }
}

TEST_CASE("frozen atoms lose the velocities that their file gives them") {
  Scratch scratch("frozen");
  MdRun moving(argon + crystal("Ar", 5.3, 0.0) + "initial_temperature: 60\ntimestep: 0.005\n");
  io::write_lammps_data(scratch.file("moving.data"), moving.state().particles, moving.context().comm);
  MdRun run(argon + fmt::format("structure: {{file: {}, species: [Ar]}}\ngroups: {{wall: {{tags: [[1, 64]]}}}}\n"
                                "frozen: [wall]\ntimestep: 0.005\n",
                                scratch.file("moving.data")));
  const Atoms start = run.atoms();
  for (std::size_t i = 0; i < 64; ++i)
    for (int k = 0; k < 3; ++k) REQUIRE(start.v[i][k] == 0.0);
  CHECK(run.measure()[temperature] == Approx(60.0).epsilon(0.3));
  run.advance(100);
  CHECK(largest_move(start, run.atoms(), 0, 64) == 0.0);
}

TEST_CASE("a cell that changes cannot hold atoms in place") {
  const auto action = [] {
    MdRun run(argon + crystal("Ar", 5.3, 0.0) +
              "groups: {wall: {tags: [[1, 64]]}}\nfrozen: [wall]\n"
              "integrator: {type: npt, pressure: 0}\ninitial_temperature: 60\n");
  };
  CHECK(message(action) ==
        "npt moves every atom with the cell, so it cannot hold the groups in 'frozen' in place; use langevin or csvr, "
        "or take 'frozen' out");
}

TEST_CASE("a minimisation that was interrupted goes on as if it had not been") {
  Scratch scratch("fire");
  const std::string deck = copper + crystal("Cu", 3.61, 0.15) + "integrator: {type: fire, force_tolerance: 1e-6}\n";
  MdRun whole(deck);
  whole.advance(30);
  whole.write_checkpoint(scratch.file("at30.h5"));
  whole.advance(30);
  MdRun resumed(deck, scratch.file("at30.h5"));
  resumed.advance(30);
  CHECK(resumed.measure()[potential] == whole.measure()[potential]);
  CHECK(largest_move(resumed.atoms(), whole.atoms(), 0, 256) == 0.0);
}

TEST_CASE("a cell of fixed shape relaxes to the volume of its pressure") {
  const auto relaxed = [&](double a, double bar) {
    MdRun run(
        copper + crystal("Cu", a, 0.1) +
        fmt::format("integrator: {{type: fire, force_tolerance: 1e-6, pressure: {}, pressure_tolerance: 0.1}}\n", bar));
    const int steps = relax(run, 3000);
    INFO("from " << a << " Å to " << bar << " bar: " << steps << " steps");
    CHECK(run.physics().finished());
    const auto now = run.measure();
    CHECK(now[pressure] == Approx(bar).margin(0.2));
    return std::cbrt(now[volume] / 64.0);
  };
  const double from_below = relaxed(3.5, 0.0), from_above = relaxed(3.75, 0.0);
  CHECK(from_below == Approx(from_above).epsilon(1e-7));
  // The minimum of the lattice's energy: energies of perfect crystals around it are not lower.
  const auto energy = [&](double a) { return MdRun(copper + crystal("Cu", a, 0.0)).measure()[potential]; };
  CHECK(energy(from_below) < energy(from_below + 0.01));
  CHECK(energy(from_below) < energy(from_below - 0.01));
  CHECK(relaxed(3.6, 1e5) < from_below - 0.01);
}

TEST_CASE("relaxation to a pressure resumes to the last bit, and holds no frozen atoms") {
  const Scratch scratch("fire_pressure");
  const auto path = scratch.file("half.h5");
  const std::string deck = copper + crystal("Cu", 3.7, 0.1) + "integrator: {type: fire, pressure: 0}\n";
  MdRun whole(deck);
  whole.advance(15);
  whole.write_checkpoint(path);
  whole.advance(15);
  MdRun second(deck, path);
  second.advance(15);
  CHECK(second.measure() == whole.measure());
  CHECK(message([&] { MdRun(deck + "groups: {wall: {tags: [[1, 4]]}}\nfrozen: [wall]\n"); }) ==
        "fire: `pressure` moves every atom with the cell, so it cannot hold the groups in 'frozen' in place; leave one "
        "of them out");
}
