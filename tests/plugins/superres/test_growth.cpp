// Linear stability of the conductive state against 8-digit references (Chebyshev collocation) and the closed form of
// free slip.
#include "tests/plugins/superres/convection_case.hpp"

using namespace cambium::superres::test;

namespace {

struct Layer {
  double rayleigh, prandtl, wave;
  const char* plates;
};

/// Growth rate of the amplitude between two late times, from a disturbance too small to act on itself.
double growth_rate(const Layer& layer, int nx, int nz, double from = 10.0, double to = 14.0) {
  Plates run(
      fmt::format("{{rayleigh: {}, prandtl: {}, width: {:.17g}, cells: [{}, {}], plates: {}, end_time: {}, "
                  "max_timestep: 0.02, initial: {{noise: 0, amplitude: 1e-9}}}}",
                  layer.rayleigh, layer.prandtl, 2.0 * M_PI / layer.wave, nx, nz, layer.plates, to));
  run.run_to(from);
  const double energy = run.measure(kinetic), start = run.time();
  run.run_to(to * (1.0 - 1e-12));
  return 0.5 * std::log(run.measure(kinetic) / energy) / (run.time() - start);
}

/// Free-slip plates: the eigenfunctions are sines.
double free_slip_rate(double rayleigh, double prandtl, double wave) {
  const double nu = std::sqrt(prandtl / rayleigh), kappa = 1.0 / std::sqrt(rayleigh * prandtl),
               q = wave * wave + M_PI * M_PI;
  return -0.5 * q * (nu + kappa) + std::sqrt(0.25 * q * q * (kappa - nu) * (kappa - nu) + wave * wave / q);
}

/// Rayleigh number at which the growth rate vanishes, by a straight line through two close ones.
double critical(double wave, const char* plates, double below, double above) {
  const double low = growth_rate({below, 1.0, wave, plates}, 64, 64),
               high = growth_rate({above, 1.0, wave, plates}, 64, 64);
  return below - low * (above - below) / (high - low);
}

}  // namespace

TEST_CASE("growth rates of convection between no-slip plates") {
  const std::pair<Layer, double> table[] = {{{1e4, 1.0, M_PI, "no_slip"}, 0.38533544},
                                            {{1e5, 1.0, M_PI, "no_slip"}, 0.58655847},
                                            {{1e6, 1.0, M_PI, "no_slip"}, 0.65791659},
                                            {{1e6, 1.0, 2.0 * M_PI, "no_slip"}, 0.83142425},
                                            {{1e4, 0.71, 3.117, "no_slip"}, 0.39070220}};
  for (const auto& [layer, expected] : table) {
    INFO("Ra " << layer.rayleigh << ", Pr " << layer.prandtl << ", k " << layer.wave);
    CHECK(growth_rate(layer, 64, 96) == Approx(expected).epsilon(1e-3));
  }
}

TEST_CASE("growth rates of convection between free-slip plates") {
  CHECK(free_slip_rate(1e6, 1.0, 2.0 * M_PI) == Approx(0.84507917).epsilon(1e-8));
  CHECK(free_slip_rate(1e4, 0.71, 3.117) == Approx(0.50639709).epsilon(1e-8));
  const Layer layers[] = {{1e4, 1.0, M_PI, "free_slip"},
                          {1e5, 1.0, M_PI, "free_slip"},
                          {1e6, 1.0, M_PI, "free_slip"},
                          {1e6, 1.0, 2.0 * M_PI, "free_slip"},
                          {1e4, 0.71, 3.117, "free_slip"}};
  for (const auto& layer : layers) {
    INFO("Ra " << layer.rayleigh << ", Pr " << layer.prandtl << ", k " << layer.wave);
    CHECK(growth_rate(layer, 64, 96) ==
          Approx(free_slip_rate(layer.rayleigh, layer.prandtl, layer.wave)).epsilon(1e-3));
  }
}

TEST_CASE("critical Rayleigh numbers") {
  CHECK(critical(3.11632, "no_slip", 1690.0, 1725.0) == Approx(1707.7618).epsilon(1e-3));
  CHECK(critical(M_PI / std::sqrt(2.0), "free_slip", 650.0, 665.0) ==
        Approx(27.0 * std::pow(M_PI, 4) / 4.0).epsilon(1e-3));
}

TEST_CASE("growth rates converge with the second order of the grid") {
  const Layer layer{1e4, 1.0, M_PI, "no_slip"};
  const double coarse = growth_rate(layer, 16, 16) - 0.38533544, fine = growth_rate(layer, 32, 32) - 0.38533544;
  CHECK(std::log2(coarse / fine) == Approx(2.0).margin(0.2));
}
