// Nosé-Hoover chains: canonical fluctuations, an oscillator that one thermostat alone cannot sample, the conserved
// energy.
#include "plugins/md/integrators/nose_hoover.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/md/argon.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::test;
using constants::boltzmann;

namespace {

const std::string chain = "type: nose_hoover, damping: 0.2";

/// Moments of x of a harmonic oscillator (mass, stiffness and kT of 1) under a chain.
struct Moments {
  double second = 0.0, fourth = 0.0, swing = 0.0;  ///< swing: of the conserved energy, largest less smallest
};

Moments oscillator(int length) {
  const double kt = 1.0, temperature = kt / boltzmann, dt = 0.02;
  md::NoseHooverChain thermostats(length, 1.0);
  double x = 1.0, v = 0.0, low = 1e300, high = -1e300;
  Moments m;
  const int steps = 600'000;
  for (int n = 0; n < steps; ++n) {
    v *= thermostats.advance(0.5 * v * v, 1.0, temperature, 0.5 * dt);
    v -= 0.5 * dt * x;
    x += dt * v;
    v -= 0.5 * dt * x;
    v *= thermostats.advance(0.5 * v * v, 1.0, temperature, 0.5 * dt);
    const double all = 0.5 * (v * v + x * x) + thermostats.energy();
    low = std::min(low, all);
    high = std::max(high, all);
    m.second += x * x / steps;
    m.fourth += x * x * x * x / steps;
  }
  m.swing = high - low;
  return m;
}

/// Root mean square distance of the conserved energy (eV/atom) from its mean.
double wander(double timestep) {
  MdRun run(small_argon + bath(chain, 150.0, timestep), 5);
  run.advance(static_cast<int>(std::lround(5.0 / timestep)));
  const auto rows = run.record(static_cast<int>(std::lround(10.0 / timestep)) / 10, 10);
  return std::sqrt(variance(column(rows, conserved))) / run.count();
}

}  // namespace

TEST_CASE("a chain samples an oscillator, one thermostat does not") {
  const auto three = oscillator(3), one = oscillator(1);
  CHECK(three.second == Approx(1.0).epsilon(0.03));
  CHECK(three.fourth == Approx(3.0).epsilon(0.06));
  CHECK(three.swing < 0.02);
  CHECK(std::abs(one.fourth - 3.0) > 0.5);
}

TEST_CASE("a chain of thermostats samples the canonical ensemble of a liquid") {
  const double kelvin = 150.0, kt = boltzmann * kelvin;
  MdRun run(small_argon + bath(chain, kelvin, 0.01), 11);
  run.advance(2000);
  const auto rows = run.record(3000, 10);
  const auto found = block_average(column(rows, temperature));
  const auto spread = block_variance(column(rows, kinetic));
  CHECK(agree(found, {kelvin, 0.1}));
  CHECK(agree(spread, {0.5 * (3.0 * run.count() - 3.0) * kt * kt, 0.0}));
  CHECK(spread.error < 0.1 * spread.value);
}

TEST_CASE("the conserved energy of a chain has an error of second order") {
  const double coarse = wander(0.02), fine = wander(0.01);
  CHECK(coarse / fine > 3.0);
  CHECK(fine < 2e-5);
}

TEST_CASE("a chain of thermostats resumes to the last bit, and with its own length alone") {
  const Scratch scratch("nose_hoover");
  const auto path = scratch.file("half.h5");
  const std::string deck = small_argon + bath(chain, 150.0, 0.01);
  MdRun whole(deck);
  whole.advance(20);
  whole.write_checkpoint(path);
  whole.advance(20);
  MdRun second(deck, path);
  second.advance(20);
  CHECK(second.measure() == whole.measure());
  CHECK(message([&] { MdRun(small_argon + bath(chain + ", chain: 5", 150.0, 0.01), path); }) ==
        "nose_hoover: the checkpoint has a chain of 3 thermostats, the deck one of 5; give the deck the same `chain`");
}
