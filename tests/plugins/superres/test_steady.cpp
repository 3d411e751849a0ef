// Steady states: rolls against Nusselt numbers of a Fourier-Chebyshev Newton solution (8 digits), the exact identities,
// and the heated cavity of de Vahl Davis.
#include "tests/plugins/superres/convection_case.hpp"

using namespace cambium::superres::test;

namespace {

std::string rolls(double rayleigh, int nx, int nz) {
  return fmt::format(
      "{{rayleigh: {}, width: 2, cells: [{}, {}], end_time: 1000, cfl: 1.5, initial: {{noise: 0, amplitude: "
      "0.1}}}}",
      rayleigh, nx, nz);
}

double steady_rolls(double rayleigh, int nx, int nz, double tolerance = 1e-7) {
  Plates run(rolls(rayleigh, nx, nz));
  return steady_value(run, nusselt_volume, tolerance, 900.0);
}

double cavity(double rayleigh, int n, double tolerance = 1e-6) {
  Square run(fmt::format("{{rayleigh: {}, prandtl: 0.71, cells: [{}, {}], end_time: 2000, cfl: 1.5}}", rayleigh, n, n));
  return steady_value(run, nusselt_low, tolerance, 1900.0);
}

}  // namespace

TEST_CASE("steady rolls carry the heat of the exact solution") {
  CHECK(steady_rolls(5e3, 64, 64) == Approx(2.11171359).epsilon(2e-3));
  CHECK(steady_rolls(1e4, 64, 64) == Approx(2.64866409).epsilon(2e-3));
}

TEST_CASE("the Nusselt number converges with the second order of the grid") {
  const double exact = 2.64866409;
  const double coarse = std::fabs(steady_rolls(1e4, 32, 32) / exact - 1.0),
               fine = std::fabs(steady_rolls(1e4, 64, 64) / exact - 1.0);
  INFO("errors " << coarse << " and " << fine);
  CHECK(std::log2(coarse / fine) >= 1.9);
}

TEST_CASE("a steady state obeys the exact identities of its own discrete equations") {
  Plates run(rolls(1e4, 32, 24));
  const double nusselt = steady_value(run, nusselt_volume, 1e-8, 900.0);
  CHECK(run.measure(nusselt_low) == Approx(nusselt).epsilon(1e-6));
  CHECK(run.measure(nusselt_high) == Approx(nusselt).epsilon(1e-6));
  CHECK(1.0 + 1e2 * run.measure(dissipation) == Approx(nusselt).epsilon(1e-6));  // sqrt(Ra Pr) = 1e2 twice
  CHECK(1e2 * run.measure(thermal_dissipation) == Approx(nusselt).epsilon(1e-6));
  CHECK(run.measure(divergence) < 1e-13);
}

TEST_CASE("heated cavity, laminar") {
  CHECK(cavity(1e3, 32) == Approx(1.118).epsilon(5e-3));
  CHECK(cavity(1e4, 48) == Approx(2.2448).epsilon(5e-3));
}

TEST_CASE("steady rolls on the product grid", "[.long]") {
  CHECK(steady_rolls(5e3, 256, 128, 1e-6) == Approx(2.11171359).epsilon(2e-3));
  CHECK(steady_rolls(1e4, 256, 128, 1e-6) == Approx(2.64866409).epsilon(2e-3));
  CHECK(steady_rolls(1e5, 256, 128, 1e-6) == Approx(4.99432223).epsilon(2e-3));
}

TEST_CASE("heated cavity, boundary layers", "[.long]") {
  CHECK(cavity(1e5, 128) == Approx(4.5216).epsilon(5e-3));
  CHECK(cavity(1e6, 256) == Approx(8.8252).epsilon(5e-3));
}

TEST_CASE("the identities close on averages over unsteady convection", "[.long]") {
  Plates run("{rayleigh: 1e6, width: 2, cells: [256, 128], end_time: 400, average_from: 100, initial: {noise: 0.1}}");
  run.run_to(399.999);
  const auto mean = run.run().averages.mean();
  const double nusselt = 1.0 + 1e3 * mean.flux_z;
  CHECK(mean.bottom == Approx(nusselt).epsilon(1e-2));
  CHECK(mean.top == Approx(nusselt).epsilon(1e-2));
  CHECK(1.0 + mean.strain == Approx(nusselt).epsilon(1e-2));
  CHECK(mean.gradient == Approx(nusselt).epsilon(1e-2));
  CHECK(nusselt == Approx(7.1).epsilon(0.1));  // Johnston and Doering 2009, 0.138 Ra^0.285
}
