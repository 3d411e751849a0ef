// Walls whose potential is a formula of time, or that a series circuit joins to ground: closed forms, charge, restart.
#include <fmt/format.h>

#include <cmath>

#include "compare_runs.hpp"
#include "core/io/hdf5/h5.hpp"
#include "kinetic_run.hpp"
#include "plugins/kinetic/fields/wall_circuit.hpp"
#include "plugins/kinetic/species/totals.hpp"
#include "tests/catch.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

/// A line, or a plane that is periodic along y, of length 4 between walls that absorb; its gas has no charge.
static VlasovPoisson::Params gap(bool plane, const std::string& upper) {
  VlasovPoisson::Params p;
  p.domain = plane ? domain({"0", "0"}, {"4", "2"}, {4, 4}) : domain({"0"}, {"4"}, {8});
  p.domain.lower_wall = p.domain.upper_wall =
      plane ? std::vector<Wall>{Wall::absorb, Wall::periodic} : std::vector<Wall>{Wall::absorb};
  p.wall_potential = plane ? WallPotentialParams{{"0", "0"}, {upper, "0"}} : WallPotentialParams{{"0"}, {upper}};
  p.species = {plane ? species("gas", "0", "1", {"-1", "-1"}, {"1", "1"}, {4, 4},
                               "maxwellian(vx, 0, 0.2)*maxwellian(vy, 0, 0.2)")
                     : species("gas", "0", "1", {"-1"}, {"1"}, {4}, "maxwellian(v, 0, 0.2)")};
  if (plane) p.basis.order = 1;
  return p;
}

TEST_CASE("a wall follows the formula of its potential") {
  for (bool plane : {false, true}) {
    auto p = gap(plane, "2*sin(3*t)");
    p.timestep = 0.02;
    KineticRun<VlasovPoisson> run(p);
    run.start();
    run.until(0.5);
    const auto* field = run.physics->fields()->electric(0, 0);
    const double mean = field[0] * std::pow(0.5, plane ? 1.0 : 0.5);
    CHECK(mean == Approx(-2.0 * std::sin(1.5) / 4.0).epsilon(1e-10));
  }
}

TEST_CASE("a source behind a resistor charges the wall") {
  for (bool plane : {false, true}) {
    auto p = gap(plane, "circuit");
    const double area = plane ? 2.0 : 1.0, capacity = area / 4.0, r = 2.0 / area;
    p.circuits = {{"upper_x", "1.5", r, 0.0, {}}};
    p.timestep = 0.01;
    KineticRun<VlasovPoisson> run(p);
    run.start();
    CHECK(run("circuit_current_upper_x") == Approx(1.5 / r));
    run.until(0.4);
    const double left = std::exp(-0.4 / (r * capacity));
    CHECK(run("wall_potential_upper_x") == Approx(1.5 * (1.0 - left)).epsilon(1e-6));
    CHECK(run("wall_charge_upper_x") == Approx(1.5 * capacity * (1.0 - left)).epsilon(1e-6));
    CHECK(run("circuit_current_upper_x") == Approx(1.5 / r * left).epsilon(1e-6));
  }
}

TEST_CASE("a resistor, an inductor and a capacitor ring with the wall, at third order in the step") {
  const double r = 0.5, l = 1.0, c = 0.5, wall = 0.25, end = 2.0;  // wall: epsilon0 over the length
  std::vector<double> errors;
  for (double dt : {0.02, 0.01}) {
    auto p = gap(false, "circuit");
    p.circuits = {{"upper_x", "1", r, l, c}};
    p.timestep = dt;
    KineticRun<VlasovPoisson> run(p);
    run.start();
    run.until(end);
    const double stiffness = 1.0 / c + 1.0 / wall, alpha = 0.5 * r / l,
                 omega = std::sqrt(stiffness / l - alpha * alpha);
    const double charge =
        (1.0 - std::exp(-alpha * end) * (std::cos(omega * end) + alpha / omega * std::sin(omega * end))) / stiffness;
    errors.push_back(std::abs(run("wall_potential_upper_x") - charge / wall));
  }
  INFO(fmt::format("errors {:.3e} {:.3e}", errors[0], errors[1]));
  CHECK(errors[0] < 1e-4);
  CHECK(std::log2(errors[0] / errors[1]) == Approx(3.0).margin(0.2));
}

TEST_CASE("a step resolves the circuit") {
  auto p = gap(false, "circuit");
  p.circuits = {{"upper_x", "1", 0.01, 0.0, {}}};  // charges the wall in 0.0025
  KineticRun<VlasovPoisson> run(p);
  run.start();
  run.step();
  CHECK(run.state.time < 2.5 * 0.0025);
  CHECK(run.state.time > 0.001);
}

static VlasovPoisson::Params plasma(std::vector<int> ranks) {
  VlasovPoisson::Params p;
  p.domain = domain({"0"}, {"8"}, {8});
  p.domain.lower_wall = p.domain.upper_wall = {Wall::absorb};
  p.wall_potential = WallPotentialParams{{"0"}, {"circuit"}};
  p.circuits = {{"upper_x", "0.5*sin(t)", 1.0, 0.5, 2.0}};
  p.species = {species("electron", "-1", "1", {"-6"}, {"6"}, {16}, "maxwellian(v)"),
               species("ion", "1", "25", {"-1.2"}, {"1.2"}, {12}, "maxwellian(v, 0, 0.2)")};
  p.timestep = 0.02;
  p.ranks = std::move(ranks);
  return p;
}

TEST_CASE("the charge of the wall is what plasma and circuit brought") {
  auto p = plasma({Comm().size(), 1});
  p.circuits[0].inductance = 0.0;  // so that current and potential tell the charge of the capacitor
  p.observables.balance = true;
  KineticRun<VlasovPoisson> run(p);
  run.start();
  run.until(3.0);
  double absorbed = 0.0;
  for (const auto& r : run.physics->results()) {
    if (r.key == "ion_particles_net_upper_x") absorbed += r.value;
    if (r.key == "electron_particles_net_upper_x") absorbed -= r.value;
  }
  const double through = 2.0 * (0.5 * std::sin(3.0) - run("wall_potential_upper_x") - run("circuit_current_upper_x"));
  CHECK(std::abs(absorbed) > 0.1);
  CHECK(std::abs(through) > 0.1);
  CHECK(run("wall_charge_upper_x") == Approx(absorbed + through).margin(1e-11));
}

TEST_CASE("circuits on several ranks, and in a restarted run bit for bit") {
  const Comm comm;
  const SharedScratch scratch(comm);
  const std::string path = scratch.file("circuit.h5");
  const auto params = plasma({comm.size(), 1});
  KineticRun<VlasovPoisson> straight(params), first(params), second(params), whole(plasma({}), MPI_COMM_SELF);
  straight.start();
  first.start();
  whole.start();
  for (int k = 0; k < 20; ++k) straight.step(), whole.step();
  for (int k = 0; k < 10; ++k) first.step();
  {
    io::File file = comm.root() ? io::File::create(path) : io::File::in_memory(path);
    first.physics->save(file);
    if (comm.root()) file.close();
  }
  comm.barrier();
  second.state.step = first.state.step;
  second.state.time = first.state.time;
  second.physics->restore(second.state, second.context, io::File::open(path), true);
  for (int k = 0; k < 10; ++k) second.step();
  for (const char* name :
       {"wall_charge_upper_x", "wall_potential_upper_x", "circuit_current_upper_x", "total_energy"}) {
    INFO(name);
    CHECK(second(name) == straight(name));
    CHECK(straight(name) == Approx(whole(name)).epsilon(1e-11));
  }
  WallCircuits two({{{0, true}, 1.0, 0.0, {}, {}}, {{1, true}, 1.0, 0.0, {}, {}}});
  CHECK_THROWS_WITH(two.load(io::File::open(path)),
                    fmt::format("'{}' has 1 circuits of walls, expected 2; give the same circuits", path));
}
