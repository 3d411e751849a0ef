// Particles, energy and the L2 norm over a thousand plasma periods, orders of free streaming.
#include <cmath>

#include "kinetic_run.hpp"
#include "plugins/kinetic/deck/projection.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

/// Electrons and protons with an asymmetric hump of density, drift 1, no field at first; 4 x 12 cells.
static VlasovMaxwell::Params hump(double dt) {
  VlasovMaxwell::Params p;
  p.parameters = {{"m", "1836.153"}, {"vi", "1/sqrt(1836.153)"}};
  p.domain = domain({"0"}, {"96"}, {4});
  const std::string n = "(1 + 4*exp(-(x - 24)^2 / (2 + 30*step(x - 24))))";
  p.species = {species("electron", "-1", "1", {"-5"}, {"7"}, {12}, n + " * maxwellian(v, 1, 1)"),
               species("proton", "1", "m", {"1 - 6*vi"}, {"1 + 6*vi"}, {12}, n + " * maxwellian(v, 1, vi)")};
  p.max_timestep = dt;
  return p;
}

namespace {
struct Changes {
  double energy, particles, square;
  bool monotone = true;
};
}  // namespace

static Changes after(double time, double dt) {
  KineticRun<VlasovMaxwell> run(hump(dt));
  run.start();
  const double energy = run("total_energy"), particles = run("particles"), square = run("square_electron");
  Changes out{};
  out.monotone = true;
  double last = square;
  for (int k = 1; k <= 20; ++k) {
    run.until(time * k / 20.0);
    const double now = run("square_electron");
    out.monotone &= now <= last * (1.0 + 1e-13);
    last = now;
  }
  out.energy = run("total_energy") / energy - 1.0;
  out.particles = run("particles") / particles - 1.0;
  out.square = last / square - 1.0;
  return out;
}

// 1x2v with a magnetic field, so that the acceleration changes its sign within faces.
TEST_CASE("the upwind flux conserves particles and energy and damps f^2, as the penalty does") {
  VlasovMaxwell::Params p;
  p.domain = domain({"0"}, {"4*pi"}, {6});
  p.species = {species("electron", "-1", "1", {"-6", "-6"}, {"6", "6"}, {8, 8},
                       "(1 + 0.2*cos(0.5*x)) * maxwellian(vx, 0.5, 1) * maxwellian(vy, 0, 1.3)")};
  p.fields.E = {"-0.4*sin(0.5*x)"};
  p.fields.B = {"0", "0", "0.6 + 0.3*sin(0.5*x)"};
  double lost[2], energy[2];
  for (int upwind : {0, 1}) {
    p.acceleration_flux = upwind ? CommonParams::AccelerationFlux::upwind : CommonParams::AccelerationFlux::penalty;
    double errors[2];
    for (int fine : {0, 1}) {
      p.max_timestep = fine ? 0.01 : 0.02;
      KineticRun<VlasovMaxwell> run(p);
      run.start();
      const double particles = run("particles"), total = run("total_energy"), square = run("square_electron");
      run.until(4.0);
      CHECK(std::abs(run("particles") / particles - 1.0) < 1e-12);
      errors[fine] = std::abs(run("total_energy") / total - 1.0);
      lost[upwind] = 1.0 - run("square_electron") / square;
    }
    energy[upwind] = errors[1];
    INFO("upwind " << upwind << ": energy " << errors[0] << " " << errors[1] << ", lost " << lost[upwind]);
    CHECK(errors[1] < 1e-6);
    if (errors[0] > 1e-11) CHECK(std::log2(errors[0] / errors[1]) > 2.5);  // of the time integration alone
  }
  INFO("lost of f^2: penalty " << lost[0] << ", upwind " << lost[1] << "; energy " << energy[0] << ", " << energy[1]);
  for (double l : lost) CHECK((l > 0.0 && l < 0.02));
}

TEST_CASE("conservation over a thousand inverse plasma frequencies") {
  const double dt[] = {0.4, 0.2, 0.1, 0.05}, published[] = {3.37e-7, 5.98e-8, 7.97e-9};
  double error[4];
  for (int k = 0; k < 4; ++k) {
    const auto c = after(1000.0, dt[k]);
    error[k] = std::abs(c.energy);
    INFO("dt " << dt[k] << ": energy " << c.energy << ", particles " << c.particles << ", square " << c.square);
    CHECK(std::abs(c.particles) < 1e-12);
    CHECK(c.monotone);
    if (k < 3) CHECK(error[k] < 1.2 * published[k]);
  }
  INFO("errors " << error[0] << " " << error[1] << " " << error[2] << " " << error[3]);
  CHECK(std::log2(error[2] / error[3]) > 2.8);
}

namespace {
struct StreamError {
  double l2, mean;
};
}  // namespace

/// Errors against the exact solution projected in the same way, with `points` nodes per dimension;
/// f = f0(x - v t, v) with f0 = (1 + 0.5 cos(x/2)) M(v), v in [-6, 6], t = 2.
static StreamError stream(int n, int order, int points) {
  PhaseGrid grid;
  grid.axis[0].upper = 4.0 * 3.141592653589793;
  grid.axis[1].lower = -6.0;
  grid.axis[1].upper = 6.0;
  for (int d = 0; d < 2; ++d) grid.axis[d].cells = grid.axis[d].count = n;
  const Comm comm(MPI_COMM_SELF);
  decompose(grid, comm, {});
  const auto solver = make_solver(find_built(1, 1, order, false), Precision::float64, grid, comm);
  const auto& basis = solver->basis();
  auto exact = [](double t) {
    return [t](std::span<const double> z) {
      return (1.0 + 0.5 * std::cos(0.5 * (z[0] - z[1] * t))) * std::exp(-0.5 * z[1] * z[1]) /
             std::sqrt(2.0 * 3.141592653589793);
    };
  };
  project(*solver, 0, points, exact(0.0));
  const double frequency = (2 * order + 1) * 6.0 / grid.axis[0].width();
  const int steps = static_cast<int>(std::ceil(2.0 * frequency / 0.2));
  const double dt = 2.0 / steps;
  std::vector<double> unused(static_cast<std::size_t>(n) * basis.conf * 3);
  for (int k = 0; k < steps; ++k) {
    solver->stage({0, 0, 1, 0.0, 1.0, dt}, {}, unused);
    solver->stage({1, 0, 2, 0.75, 0.25, 0.25 * dt}, {}, unused);
    solver->stage({2, 0, 0, 1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0 * dt}, {}, unused);
  }
  solver->to_host_const(0);
  // Against the exact function projected in the same way.
  project(*solver, 1, points, exact(2.0));
  solver->to_host_const(1);
  std::vector<double> f(basis.modes), g(basis.modes);
  StreamError e{0.0, 0.0};
  const double jacobian = 0.25 * grid.axis[0].width() * grid.axis[1].width();
  for (int ic = 0; ic < n; ++ic)
    for (int iv = 0; iv < n; ++iv) {
      solver->get(0, ic, iv, f.data());
      solver->get(1, ic, iv, g.data());
      e.mean += jacobian * (f[0] - g[0]) * (f[0] - g[0]);
      for (int k = 0; k < basis.modes; ++k) e.l2 += jacobian * (f[k] - g[k]) * (f[k] - g[k]);
    }
  return {std::sqrt(e.l2), std::sqrt(e.mean)};
}

TEST_CASE("free streaming converges with order p+1, its cell means with 2p+1") {
  const double published[] = {2.52e-3, 2.45e-4, 2.32e-5, 2.53e-6},
               published_p1[] = {9.52e-2, 2.41e-2, 6.13e-3, 1.54e-3};
  StreamError p2[4], p1[4];
  for (int k = 0; k < 4; ++k) {
    p2[k] = stream(8 << k, 2, 3);  // the published errors are for p+1 points
    p1[k] = stream(8 << k, 1, 2);
    INFO("N = " << (8 << k) << ": p2 " << p2[k].l2 << " means " << p2[k].mean << "; p1 " << p1[k].l2 << " means "
                << p1[k].mean);
    CHECK(p2[k].l2 < 1.005 * published[k]);
    CHECK(p1[k].l2 < 1.005 * published_p1[k]);
  }
  CHECK(std::log2(p2[2].l2 / p2[3].l2) > 2.9);
  CHECK(std::log2(p1[2].l2 / p1[3].l2) > 1.9);
  CHECK(std::log2(p2[2].mean / p2[3].mean) > 4.7);
  CHECK(std::log2(p1[2].mean / p1[3].mean) > 2.8);
}

TEST_CASE("float32 keeps its particles") {
  auto p = wave("0.5", 32, 32, "(1 + 0.1*cos(k*x)) * maxwellian(v)");
  p.precision = Precision::float32;
  KineticRun<VlasovPoisson> run(p);
  run.start();
  const double particles = run("particles");
  double change[2];
  for (int half : {0, 1}) {
    for (int k = 0; k < 500; ++k) run.step();
    change[half] = run("particles") / particles - 1.0;
  }
  // Three stages of a step round every cell by up to 2^-25 of it, with either sign. What has one sign, like weights
  // that do not add up to 1, or products with 1/3 and 2/3 whose roundings do not cancel, grows with the number of steps
  // and not like its root.
  const double rounding = 3.0 / 33554432.0 / 32.0;
  INFO("after 500 steps " << change[0] << ", after 1000 " << change[1] << "; rounding " << rounding << " a step");
  CHECK(std::abs(change[0]) < 10.0 * std::sqrt(500.0) * rounding);
  CHECK(std::abs(change[1]) < 10.0 * std::sqrt(1000.0) * rounding);
}
