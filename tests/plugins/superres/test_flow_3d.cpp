// Convection in three dimensions over longer times: rolls of any direction grow as in two dimensions, and turbulence
// keeps the balances of energy and heat.
#include "tests/plugins/superres/convection_case.hpp"

using namespace cambium;
using namespace cambium::superres;
using namespace cambium::superres::test;

namespace {

/// A layer whose rolls have wave number k along x, y or both.
struct Rolls {
  int x, y;
  double rayleigh, wave;
};

/// Growth rate of the amplitude between two late times, from a disturbance too small to act on itself. The period along
/// a direction with n waves is n waves of the wave number's share; oblique rolls share its square equally.
double growth_rate(const std::string& keys, double from, double to) {
  Plates run(fmt::format("{{{}, plates: no_slip, end_time: {}, max_timestep: 0.02}}", keys, to));
  run.run_to(from);
  const double energy = run.measure(kinetic), start = run.time();
  run.run_to(to * (1.0 - 1e-12));
  return 0.5 * std::log(run.measure(kinetic) / energy) / (run.time() - start);
}

/// The same number of cells per wavelength along the wave vector in all: cells^2 dx^2 is alike for oblique rolls, whose
/// waves are longer along each axis.
std::string deck_of(const Rolls& rolls, int along) {
  const double period = 2.0 * M_PI / (rolls.x && rolls.y ? rolls.wave / std::sqrt(2.0) : rolls.wave);
  const auto cells = [&](int waves) { return waves ? along : 4; };
  const std::string disturbance =
      fmt::format("amplitude: 1e-9, noise: 0, wavelengths: {}, wavelengths_y: {}", rolls.x, rolls.y);
  return fmt::format(
      "rayleigh: {}, aspect_ratio: {:.17g}, aspect_ratio_y: {:.17g}, cells: [{}, {}, 32], initial: {{{}}}",
      rolls.rayleigh, period, period, cells(rolls.x), cells(rolls.y), disturbance);
}

std::string flat_deck(double rayleigh, double wave, int along) {
  return fmt::format("rayleigh: {}, aspect_ratio: {:.17g}, cells: [{}, 32], initial: {{amplitude: 1e-9, noise: 0}}",
                     rayleigh, 2.0 * M_PI / wave, along);
}

}  // namespace

TEST_CASE("energy and variance of buoyancy change by what flows in and what is lost") {
  // d<u^2>/2 = <w b> - nu <|grad u|^2>, d<b^2>/2 = kappa ((b db/dz) on the plates - <|grad b|^2>), summed over a
  // turbulent run.
  Plates run(
      "{rayleigh: 1e6, prandtl: 0.7, aspect_ratio: 1, cells: [24, 24, 32], end_time: 40, cfl: 0.5, initial: {noise: "
      "1}}",
      MPI_COMM_SELF);
  run.run_to(12.0);
  const Comm& comm = run.comm();
  const double nu = run.run().fluid().viscosity, kappa = run.run().fluid().diffusivity;
  const auto variance = [&] {
    double sum = 0.0;
    const Flow& flow = run.flow();
    const auto f = on_host(flow.fields);
    for (int row = 1; row <= flow.rows(); ++row)
      for (int line = 0; line < 24; ++line)
        for (int i = flow.layout.begin(line); i < flow.layout.begin(line) + 24; ++i)
          sum +=
              0.5 * f(field_b, row, i) * f(field_b, row, i) * flow.slab.grid.height(flow.slab.first + row - 1) / 576.0;
    return comm.sum(sum);
  };
  const auto rates = [&] {
    const Means m = means_of(run.flow(), comm);
    return std::array{m.flux_z, nu * m.strain, 0.5 * kappa * (m.bottom + m.top), kappa * m.gradient};
  };
  const double energy = means_of(run.flow(), comm).kinetic, buoyancy = variance();
  std::array<double, 4> sums{}, before = rates();
  double lowest = 1e9, highest = 0.0;
  for (double last = run.time(); run.time() < 20.0; last = run.time()) {
    run.advance();
    const auto now = rates();
    for (int k = 0; k < 4; ++k) sums[k] += 0.5 * (run.time() - last) * (before[k] + now[k]);
    before = now;
    lowest = std::min(lowest, now[1]);
    highest = std::max(highest, now[1]);
  }
  INFO("fed " << sums[0] << ", dissipated " << sums[1] << "; b in " << sums[2] << ", lost " << sums[3]);
  CHECK(highest > 1.3 * lowest);  // unsteady
  CHECK(means_of(run.flow(), comm).kinetic - energy == Approx(sums[0] - sums[1]).margin(0.01 * sums[1]));
  CHECK(variance() - buoyancy == Approx(sums[2] - sums[3]).margin(0.01 * sums[3]));
}

TEST_CASE("rolls along x, along y and oblique ones grow as in two dimensions") {
  const double wave = M_PI, rayleigh = 1e4;
  const double flat = growth_rate(flat_deck(rayleigh, wave, 32), 8.0, 12.0);
  CHECK(flat == Approx(0.38533544).epsilon(5e-3));
  for (const auto& [x, y] : {std::pair{1, 0}, {0, 1}}) {
    INFO(x << " waves along x, " << y << " along y");
    CHECK(growth_rate(deck_of({x, y, rayleigh, wave}, 32), 8.0, 12.0) == Approx(flat).epsilon(1e-9));
  }
  // Oblique waves meet other differences; both come near the continuous equations' rate.
  const double fine = growth_rate(flat_deck(rayleigh, wave, 64), 8.0, 12.0);
  CHECK(growth_rate(deck_of({1, 1, rayleigh, wave}, 40), 8.0, 12.0) == Approx(fine).epsilon(2e-3));
}

TEST_CASE("the critical Rayleigh number in three dimensions") {
  const auto rate = [](double rayleigh) { return growth_rate(deck_of({0, 1, rayleigh, 3.117}, 48), 8.0, 12.0); };
  CHECK(rate(1707.76 * 0.998) < 0.0);
  CHECK(rate(1707.76 * 1.002) > 0.0);
}
