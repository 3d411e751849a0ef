// Five- and ten-moment fluids alone: the Riemann solution, orders of convergence, sources in closed form, walls, ranks.
#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "compare_runs.hpp"
#include "kinetic_run.hpp"
#include "plugins/kinetic/deck/projection.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

using Equation = FluidParams::Equation;
using Limiter = FluidParams::Limiter;

static ConfGrid line(int cells, double length, Wall wall = Wall::periodic) {
  ConfGrid g;
  g.cells[0] = cells;
  g.width[0] = length / cells;
  g.low_wall[0] = g.high_wall[0] = wall;
  g.exponents = {{0}, {1}, {2}};
  return g;
}

static FluidParams fluid(Equation equation, const std::string& density, const std::string& velocity,
                         const std::string& pressure) {
  FluidParams p;
  p.name = "gas";
  p.equation = equation;
  p.density = density;
  p.velocity = {velocity};
  p.pressure = pressure;
  return p;
}

/// SSP-RK3 steps of a fluid alone to a time, in steps of cfl times the stable one; fields are uniform.
static void advance(Fluid& fluid, double end, double cfl = 0.5, const ForceField& force = {}) {
  fluid.initialise();
  double time = 0.0;
  while (time < end * (1.0 - 1e-12)) {
    const double frequency = fluid.stage({0, 0, 2, 0.0, 1.0, 0.0}, force, 1.0);
    REQUIRE(std::isfinite(frequency));  // else the state has no pressure, and no step is short enough
    const double dt = std::min(cfl / frequency, end - time);
    fluid.stage({0, 0, 1, 0.0, 1.0, dt}, force, 1.0);
    fluid.stage({1, 0, 2, 0.75, 0.25, 0.25 * dt}, force, 1.0);
    fluid.stage({2, 0, 0, 1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0 * dt}, force, 1.0);
    time += dt;
  }
}

/// Mean absolute error of the density of a fluid on a line against exact means over its subcells.
static double error_of_density(const Fluid& fluid, const ConfGrid& grid, const std::function<double(double)>& exact) {
  std::vector<double> nodes, weights;
  gauss(4, nodes, weights);
  const double width = fluid.cells().width(0);
  double sum = 0.0;
  for (std::size_t k = 0; k < fluid.cells().count(); ++k) {
    double mean = 0.0;
    for (std::size_t q = 0; q < nodes.size(); ++q)
      mean += 0.5 * weights[q] * exact(grid.lower[0] + (static_cast<double>(k) + 0.5 + 0.5 * nodes[q]) * width);
    sum += std::abs(fluid.values(0, 0)[k] - mean);
  }
  return sum / static_cast<double>(fluid.cells().count());
}

/// Density of the exact solution of Sod's tube at x/t, states (1, 0, 1) and (1/8, 0, 1/10): a rarefaction, a contact
/// and a shock (Toro, Riemann Solvers and Numerical Methods for Fluid Dynamics, chapter 4).
static double sod_density(double gamma, double s) {
  const double rl = 1.0, pl = 1.0, rr = 0.125, pr = 0.1, cl = std::sqrt(gamma * pl / rl);
  const double al = 2.0 / ((gamma + 1.0) * rr), bl = (gamma - 1.0) / (gamma + 1.0) * pr,
               z = (gamma - 1.0) / (2 * gamma);
  const auto behind = [&](double p) { return 2.0 * cl / (gamma - 1.0) * (1.0 - std::pow(p / pl, z)); };
  const auto ahead = [&](double p) { return (p - pr) * std::sqrt(al / (p + bl)); };
  double low = pr, high = pl;
  for (int k = 0; k < 200; ++k) {
    const double p = 0.5 * (low + high);
    (behind(p) > ahead(p) ? low : high) = p;
  }
  const double p = low, u = behind(p), rho = rl * std::pow(p / pl, 1.0 / gamma), c = std::sqrt(gamma * p / rho);
  const double ratio = (gamma - 1.0) / (gamma + 1.0), shocked = rr * (p / pr + ratio) / (ratio * p / pr + 1.0);
  const double shock = u * shocked / (shocked - rr);
  if (s < -cl) return rl;
  if (s < u - c) return rl * std::pow((2.0 - (gamma - 1.0) * s / cl) / (gamma + 1.0), 2.0 / (gamma - 1.0));
  return s < u ? rho : s < shock ? shocked : rr;
}

TEST_CASE("Sod's tube is the exact solution of the Riemann problem") {
  for (const auto equation : {Equation::five_moment, Equation::ten_moment}) {
    // Ten moments without a heat flux have along one dimension a ratio of specific heats of 3.
    const double gamma = equation == Equation::ten_moment ? 3.0 : 1.4, end = 0.2;
    auto p = fluid(equation, "if(x < 0.5, 1, 0.125)", "0", "if(x < 0.5, 1, 0.1)");
    if (equation == Equation::five_moment) p.adiabatic_index = "1.4";
    std::vector<double> errors;
    for (int cells : {32, 64, 128}) {
      const ConfGrid grid = line(cells, 1.0, Wall::copy);
      p.subcells = 2;  // the step lies on a face
      Fluid gas(p, {}, grid, 2);
      advance(gas, end);
      errors.push_back(error_of_density(gas, grid, [&](double x) { return sod_density(gamma, (x - 0.5) / end); }));
    }
    INFO(fmt::format("errors {:.3e} {:.3e} {:.3e}", errors[0], errors[1], errors[2]));
    CHECK(errors[2] < 4e-3);
    CHECK(0.5 * std::log2(errors[0] / errors[2]) > 0.7);  // a contact at second order has h^(2/3), the shock h
    p.limiter = Limiter::first_order;
    const ConfGrid grid = line(128, 1.0, Wall::copy);
    Fluid gas(p, {}, grid, 2);
    advance(gas, end);
    CHECK(error_of_density(gas, grid, [&](double x) { return sod_density(gamma, (x - 0.5) / end); }) > 2.0 * errors[2]);
  }
}

TEST_CASE("a smooth wave converges at first and second order") {
  for (const auto equation : {Equation::five_moment, Equation::ten_moment})
    for (const auto& [limiter, order, tolerance] : {std::tuple(Limiter::first_order, 1.0, 0.15),
                                                    {Limiter::none, 2.0, 0.05},
                                                    {Limiter::monotonized_central, 2.0, 0.25},
                                                    {Limiter::minmod, 2.0, 0.45}}) {
      auto p = fluid(equation, "1 + 0.2*sin(2*pi*x)", "1", "1");
      p.limiter = limiter;
      std::vector<double> errors;
      for (int cells : {16, 32, 64}) {
        const ConfGrid grid = line(cells, 1.0);
        Fluid gas(p, {}, grid, 2);
        advance(gas, 1.0);
        errors.push_back(error_of_density(gas, grid, [](double x) { return 1.0 + 0.2 * std::sin(2 * M_PI * x); }));
      }
      INFO(fmt::format("errors {:.3e} {:.3e} {:.3e}", errors[0], errors[1], errors[2]));
      CHECK(std::log2(errors[1] / errors[2]) == Approx(order).margin(tolerance));
    }
}

TEST_CASE("a plane holds second order, and particles, momentum and energy") {
  for (const auto equation : {Equation::five_moment, Equation::ten_moment}) {
    auto p = fluid(equation, "1 + 0.2*sin(2*pi*(x + y))", "1", "1");
    p.velocity = {"1", "0.5"};
    p.limiter = Limiter::none;
    std::vector<double> errors;
    for (int cells : {8, 16}) {
      ConfGrid grid = line(cells, 1.0);
      grid.dimensions = 2;
      grid.cells[1] = cells;
      grid.width[1] = 1.0 / cells;
      grid.exponents = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {0, 2}, {2, 1}, {1, 2}};
      Fluid gas(p, {}, grid, 2), fresh(p, {}, grid, 2);
      fresh.initialise();
      advance(gas, 2.0, 0.5);  // the wave has come round three times
      double sum = 0.0;
      for (std::size_t k = 0; k < gas.cells().count(); ++k)
        sum += std::abs(gas.values(0, 0)[k] - fresh.values(0, 0)[k]) / static_cast<double>(gas.cells().count());
      errors.push_back(sum);
      const auto before = fresh.totals(), after = gas.totals();
      for (int c = 0; c < 5; ++c) CHECK(after[c] == Approx(before[c]).margin(1e-12));
    }
    INFO(fmt::format("errors {:.3e} {:.3e}", errors[0], errors[1]));
    CHECK(std::log2(errors[0] / errors[1]) > 1.8);
  }
}

/// Uniform fields as expansions over a line.
static ForceField uniform(const std::vector<double>& electric, const std::vector<double>& magnetic, int cells,
                          std::vector<std::vector<double>>& held) {
  ForceField out;
  held.clear();
  for (std::size_t c = 0; c < 6; ++c) {
    held.emplace_back(static_cast<std::size_t>(3 * cells), 0.0);
    for (int i = 0; i < cells; ++i) held[c][3 * i] = std::sqrt(2.0) * (c < 3 ? electric[c] : magnetic[c - 3]);
  }
  for (int c = 0; c < 3; ++c) {
    out.electric[c] = held[c].data();
    out.magnetic[c] = held[3 + c].data();
  }
  return out;
}

TEST_CASE("a magnetic field turns momentum and pressure, at third order in the step") {
  auto p = fluid(Equation::ten_moment, "2", "0.3", "1");
  p.charge = "-2";
  p.mass = "4";
  p.pressure.clear();
  p.pressure_tensor = {"3", "0.5", "0.2", "2", "0.1", "1"};
  p.velocity = {"0.3", "0", "0.7"};
  std::vector<std::vector<double>> held;
  const double b = 3.0, turn = -2.0 / 4.0 * b;  // du/dt = (q/m) u x B with B along z
  const ForceField force = uniform({0, 0, 0}, {0, 0, b}, 4, held);
  std::vector<double> errors;
  for (double cfl : {0.1, 0.05}) {
    Fluid gas(p, {}, line(4, 1e6), 2);  // waves do not limit the step
    const double end = 2.0;
    advance(gas, end, cfl, force);
    double q[10], w[10];
    for (int c = 0; c < 10; ++c) q[c] = gas.values(0, c)[5];
    gas.equations().to_primitive(q, w);
    const double cosine = std::cos(turn * end), sine = std::sin(turn * end);
    const double turned[3][3] = {{cosine, sine, 0}, {-sine, cosine, 0}, {0, 0, 1}};
    const double u[3] = {0.3, 0, 0.7}, tensor[6] = {3, 0.5, 0.2, 2, 0.1, 1};
    double worst = 0.0;
    for (int i = 0; i < 3; ++i) {
      double velocity = 0.0;
      for (int j = 0; j < 3; ++j) velocity += turned[i][j] * u[j];
      worst = std::max(worst, std::abs(w[1 + i] - velocity));
      for (int j = i; j < 3; ++j) {
        double sum = 0.0;
        for (int k = 0; k < 3; ++k)
          for (int l = 0; l < 3; ++l) sum += turned[i][k] * tensor[tensor_at[k][l]] * turned[j][l];
        worst = std::max(worst, std::abs(w[4 + tensor_at[i][j]] - sum));
      }
    }
    errors.push_back(worst);
    CHECK(w[0] == Approx(8.0).epsilon(1e-13));
  }
  CHECK(errors[1] < 2e-4);
  CHECK(std::log2(errors[0] / errors[1]) == Approx(3.0).margin(0.3));
}

TEST_CASE("an electric field accelerates, and its work is what the energy gains") {
  for (const auto equation : {Equation::five_moment, Equation::ten_moment}) {
    auto p = fluid(equation, "2", "0.3", "1");
    p.charge = "3";
    p.mass = "2";
    std::vector<std::vector<double>> held;
    const ForceField force = uniform({0.4, 0, -0.2}, {0, 0, 0}, 4, held);
    Fluid gas(p, {}, line(4, 1.0), 2);
    advance(gas, 1.0, 0.5, force);
    const auto totals = gas.totals();
    const double ux = 0.3 + 0.6, uz = -0.3;
    CHECK(totals[1] == Approx(4.0 * ux));
    CHECK(totals[3] == Approx(4.0 * uz));
    CHECK(totals[4] == Approx(1.5 + 2.0 * (ux * ux + uz * uz)));
    CHECK(totals[5] == Approx(1.0));
  }
}

TEST_CASE("the closure relaxes the pressure tensor at k0 sqrt(p/rho)") {
  auto p = fluid(Equation::ten_moment, "1", "0", "1");
  p.pressure.clear();
  p.pressure_tensor = {"4", "0.3", "0", "2", "0", "3"};
  p.mass = "4";
  p.k0 = "0.5";
  Fluid gas(p, {}, line(4, 1.0), 2);
  advance(gas, 2.0, 0.5);
  const double left = std::exp(-2.0 * 0.5 * std::sqrt(3.0 / 4.0));
  CHECK(gas.values(0, 4)[0] == Approx(3.0 + left).epsilon(1e-6));
  CHECK(gas.values(0, 5)[0] == Approx(0.3 * left).epsilon(1e-6));
  CHECK(gas.values(0, 7)[0] == Approx(3.0 - left).epsilon(1e-6));
  CHECK(gas.values(0, 9)[0] == Approx(3.0).epsilon(1e-12));
}

TEST_CASE("a wall that reflects is a mirror, and one that absorbs lets nothing in") {
  for (const auto equation : {Equation::five_moment, Equation::ten_moment}) {
    auto p = fluid(equation, "1 + 0.3*exp(-20*(x - 0.3)^2)", "0", "1");
    Fluid half(p, {}, line(8, 1.0, Wall::reflect), 2);
    auto whole_params = p;
    whole_params.density = "1 + 0.3*exp(-20*(abs(x - 1) - 0.7)^2)";  // its mirror image beside it
    Fluid whole(whole_params, {}, line(16, 2.0), 2);
    advance(half, 0.5);
    advance(whole, 0.5);
    for (std::size_t k = 0; k < half.cells().count(); ++k)
      CHECK(half.values(0, 0)[k] == Approx(whole.values(0, 0)[k]).epsilon(1e-10));
    CHECK(half.totals()[0] == Approx(0.5 * whole.totals()[0]).epsilon(1e-12));

    auto charged = fluid(equation, "1", "-0.5", "1");
    charged.charge = "2";
    Fluid gas(charged, {}, line(8, 1.0, Wall::absorb), 2);
    gas.initialise();
    CHECK(gas.collected(0, {0, false}) == Approx(2.0 * 0.5));  // what leaves takes its charge along
    const double rest = gas.collected(0, {0, true});           // and little comes back from where it flows away
    CHECK(rest >= 0.0);
    const double before = gas.totals()[0], dt = 1e-4;
    gas.stage({0, 0, 1, 0.0, 1.0, dt}, {}, 1.0);
    double after = 0.0;
    for (const double rho : gas.values(1, 0)) after += rho * gas.cells().volume();
    CHECK((before - after) / dt == Approx(0.5 * (gas.collected(0, {0, false}) + rest)).epsilon(1e-8));
  }
}

TEST_CASE("means and projections of subcells are adjoint, and expansions come back") {
  ConfGrid grid = line(3, 1.5);
  for (int side : {2, 3, 5}) {
    const Subcells cells(grid, side);
    std::vector<double> e(grid.size()), v(cells.count()), projected(grid.size(), 0.0);
    for (std::size_t k = 0; k < e.size(); ++k) e[k] = std::sin(1.0 + 3.0 * static_cast<double>(k));
    for (std::size_t k = 0; k < v.size(); ++k) v[k] = std::cos(2.0 + 5.0 * static_cast<double>(k));
    cells.add_projection(v, 1.0, projected);
    const auto means = cells.means(e.data());
    double sum = 0.0;
    for (std::size_t k = 0; k < v.size(); ++k) sum += v[k] * means[k] * cells.volume();
    CHECK(grid.product_integral(projected.data(), e.data()) == Approx(sum).epsilon(1e-13));
    if (side > 2) CHECK(furthest(cells.expansion(means), e) < 1e-13);
  }
}
