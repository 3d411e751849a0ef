// A wave is an exact solution of the scheme, whatever the number of ranks: every step multiplies it by a known factor.
#include <cmath>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#include "my_physics.hpp"

using namespace cambium;
using cambium::my_physics::MyPhysics;

namespace {

constexpr double two_pi = 6.283185307179586;

struct World {
  Comm comm;
  Log log;
  Timing timing;
  Context context{comm, log, timing};
};

MyPhysics::Params params(int cells, double courant, const std::string& initial) {
  MyPhysics::Params p;
  p.cells = cells;
  p.courant = courant;
  p.diffusivity = 0.7;
  p.length = 2.0;
  p.initial = deck::Expression::parse(initial, "", std::vector<deck::Variable>{{"x", ""}});
  return p;
}

/// Runs the physics' own schedule, as the stage `simulate` does.
State run(MyPhysics& physics, World& world, int steps) {
  State state;
  physics.declare(state, world.context);
  physics.initialise(state, world.context);
  Schedule schedule;
  physics.schedule(schedule);
  for (int k = 0; k < steps; ++k) {
    StepInfo info{state.step + 1, physics.timestep(state), state.time + physics.timestep(state)};
    for (const auto& task : schedule.tasks()) task.run(state, info);
    ++state.step, state.time = info.time;
  }
  return state;
}

}  // namespace

TEST_CASE("a wave decays by the factor of the scheme") {
  World world;
  const int cells = 24, steps = 40;
  const double r = 0.3, k = two_pi * 3 / 2.0, dx = 2.0 / cells;
  MyPhysics physics(params(cells, r, "5 + cos(3*pi*x)"), world.context);
  run(physics, world, steps);
  const double factor = std::pow(1.0 - 4.0 * r * std::pow(std::sin(0.5 * k * dx), 2), steps);
  const auto t = physics.temperatures();
  for (std::size_t i = 0; i < t.size(); ++i) {
    const double x = (physics.first_cell() + static_cast<double>(i) + 0.5) * dx;
    CHECK(t[i] == Approx(5.0 + factor * std::cos(k * x)).margin(1e-12));
  }
}

TEST_CASE("the field for ParaView is the entire ring, on rank 0") {
  World world;
  MyPhysics physics(params(24, 0.25, "x"), world.context);
  const State state = run(physics, world, 0);
  const auto shown = physics.grid_fields(state, world.comm);
  REQUIRE(shown);
  CHECK(shown->axes.at(0).faces.size() == 25);
  CHECK(shown->axes.at(0).faces.back() == Approx(2.0));
  const auto& values = shown->fields.at(0).values;
  REQUIRE(values.size() == (world.comm.root() ? 24u : 0u));
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == Approx((static_cast<double>(i) + 0.5) / 12.0));
}

TEST_CASE("the mean stays, and the error against the equation falls with the square of the width of a cell") {
  World world;
  double errors[2];
  for (const int level : {0, 1}) {
    const int cells = 16 << level;
    MyPhysics physics(params(cells, 0.2, "1 + sin(pi*x)"), world.context);
    const State state = run(physics, world, 40 << (2 * level));
    double values[2];
    physics.measure(state, world.context, values);
    CHECK(values[0] == Approx(1.0).epsilon(1e-13));
    const double exact = std::sqrt(0.5) * std::exp(-0.7 * std::pow(two_pi / 2.0, 2) * state.time);
    errors[level] = std::abs(values[1] - exact);
  }
  CHECK(errors[0] / errors[1] == Approx(4.0).epsilon(0.1));
}

TEST_CASE("wrong keys are reported") {
  World world;
  CHECK_THROWS_WITH(MyPhysics(params(world.comm.size() - 1, 0.2, "1"), world.context),
                    std::to_string(world.comm.size() - 1) + " cells cannot be shared by " +
                        std::to_string(world.comm.size()) + " ranks; use more cells or fewer ranks");
}
