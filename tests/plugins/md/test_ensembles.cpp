// Heat baths: temperature, canonical fluctuations and the conserved energy, with fixed seeds.
#include <functional>

#include "plugins/md/integrators/csvr.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/md/argon.hpp"

using namespace cambium;
using namespace cambium::test;
using constants::boltzmann;

namespace {

const std::string langevin = "type: langevin, damping: 0.5";
const std::string csvr = "type: csvr, damping: 0.2";

struct Sampled {
  Estimate temperature, potential, potential_variance, kinetic_variance;
  double count = 0.0;
};

Sampled sample(const std::string& thermostat, double kelvin) {
  MdRun run(small_argon + bath(thermostat, kelvin, 0.01), 11);
  run.advance(2000);  // melts
  const auto rows = run.record(3000, 10);
  return {block_average(column(rows, temperature)), block_average(column(rows, potential)),
          block_variance(column(rows, potential)), block_variance(column(rows, kinetic)), run.count()};
}

void report(const std::string& name, const Sampled& s) {
  fmt::print("{}: T {:.2f} +- {:.2f} K, U {:.4f} +- {:.4f} eV, var U {:.4g} +- {:.2g}, var K {:.4g} +- {:.2g}\n", name,
             s.temperature.value, s.temperature.error, s.potential.value, s.potential.error, s.potential_variance.value,
             s.potential_variance.error, s.kinetic_variance.value, s.kinetic_variance.error);
}

/// Mean and fluctuation of the kinetic energy of `freedom` canonical degrees of freedom.
void check_kinetic(const Sampled& s, double kelvin, double freedom) {
  const double kt = boltzmann * kelvin;
  CHECK(agree(s.temperature, {kelvin, 0.0}));
  CHECK(s.temperature.error < 0.01 * kelvin);
  CHECK(agree(s.kinetic_variance, {0.5 * freedom * kt * kt, 0.0}));
  CHECK(s.kinetic_variance.error < 0.1 * s.kinetic_variance.value);
}

/// Root mean square distance of the conserved energy from its line, and that line's slope, per atom.
struct Drift {
  double rms = 0.0, slope = 0.0;
};

Drift drift_of(const std::string& thermostat, double timestep) {
  const double picoseconds = 20.0;
  MdRun run(small_argon + bath(thermostat, 150.0, timestep), 5);
  run.advance(static_cast<int>(std::lround(5.0 / timestep)));
  const auto rows = run.record(static_cast<int>(std::lround(picoseconds / timestep)) / 10, 10);
  const auto energy = column(rows, conserved);
  return {std::sqrt(variance(energy)) / run.count(), slope(energy, 10 * timestep) / run.count()};
}

}  // namespace

TEST_CASE("stochastic rescaling draws from the distribution of its own equation") {
  const double kelvin = 300.0, kt = boltzmann * kelvin;
  const int draws = 100000;
  for (const double freedom : {1.0, 2.0, 3.0, 7.0, 321.0})
    for (const double step : {0.05, 1.0, 50.0}) {
      const double start = 1.7 * 0.5 * freedom * kt, target = 0.5 * freedom * kt, c = std::exp(-step);
      std::vector<double> k;
      for (int n = 0; n < draws; ++n) {
        const double factor = md::csvr_factor(start, freedom, kelvin, step, 3, n);
        k.push_back(factor * factor * start);
      }
      // A noncentral chi^2: freedom - 1 squares and one that remembers the start.
      const double width = (1.0 - c) * target / freedom;
      const double spread = 2.0 * width * width * (freedom + 2.0 * c * start / width);
      INFO("freedom " << freedom << ", step " << step);
      CHECK(mean(k) == Approx(c * start + (1.0 - c) * target).margin(5.0 * std::sqrt(spread / draws)));
      CHECK(variance(k) == Approx(spread).epsilon(5.0 * std::sqrt((2.0 + 12.0 / freedom) / draws)));
      if (step < 10.0) continue;
      // Nothing is remembered: the Gamma distribution of shape freedom / 2, whose skewness is 2 / sqrt(shape).
      const double middle = mean(k);
      double third = 0.0;
      for (double x : k) third += (x - middle) * (x - middle) * (x - middle) / draws;
      CHECK(third / std::pow(spread, 1.5) == Approx(2.0 / std::sqrt(0.5 * freedom)).epsilon(0.1).margin(0.05));
    }
}

TEST_CASE("both heat baths sample the canonical ensemble") {
  const double kelvin = 150.0;
  const Sampled a = sample(langevin, kelvin), b = sample(csvr, kelvin), hot = sample(csvr, 165.0);
  report("langevin", a);
  report("csvr", b);
  report("csvr, 165 K", hot);
  check_kinetic(a, kelvin, 3.0 * a.count);
  check_kinetic(b, kelvin, 3.0 * b.count - 3.0);
  CHECK(agree(a.potential, b.potential));
  CHECK(agree(a.potential_variance, b.potential_variance));
  // Heat capacity from the slope and from the fluctuations: d<U>/dT = var U / (k T^2).
  const double slope = (hot.potential.value - b.potential.value) / 15.0;
  const double error = std::hypot(hot.potential.error, b.potential.error) / 15.0;
  const double middle = boltzmann * 157.5 * 157.5;
  const Estimate from_fluctuations{0.5 * (b.potential_variance.value + hot.potential_variance.value) / middle,
                                   0.5 * std::hypot(b.potential_variance.error, hot.potential_variance.error) / middle};
  fmt::print("dU/dT {:.3g} +- {:.2g}, from fluctuations {:.3g} +- {:.2g} eV/K\n", slope, error, from_fluctuations.value,
             from_fluctuations.error);
  CHECK(agree({slope, error}, from_fluctuations));
}

TEST_CASE("a cold crystal has half a kT of potential energy in each mode") {
  MdRun ground(argon_crystal + "integrator: {type: fire, force_tolerance: 1e-6}\n");
  while (!ground.physics().finished()) ground.advance(1);
  const double lattice = ground.measure()[potential], kelvin = 2.0;
  for (const auto& thermostat : {langevin, csvr}) {
    MdRun run(argon_crystal + bath(thermostat, kelvin, 0.01), 7);
    run.advance(1000);
    const auto energy = block_average(column(run.record(1500, 10), potential));
    const double expected = 0.5 * (3.0 * run.count() - 3.0) * boltzmann * kelvin;
    fmt::print("{}: U - U0 is {:.4f} +- {:.4f} of its value by equipartition\n", thermostat,
               (energy.value - lattice) / expected, energy.error / expected);
    // Anharmonic terms are of order kT / epsilon = 1.7 %.
    CHECK(agree({energy.value - lattice, energy.error}, {expected, 0.01 * expected}, 3.0));
  }
}

TEST_CASE("heat flows at the rate that the damping time says") {
  struct Case {
    std::string thermostat;
    double rate;  ///< 1/ps, of the kinetic energy
  };
  for (const Case& c : {Case{"type: langevin, damping: 0.4", 5.0}, Case{"type: csvr, damping: 0.2", 5.0}}) {
    MdRun run(
        ideal_gas +
        fmt::format("integrator: {{{}, temperature: 100}}\ninitial_temperature: 500\ntimestep: 0.005\n", c.thermostat));
    run.advance(40);
    const double now = run.measure()[temperature], expected = 100.0 + 400.0 * std::exp(-c.rate * 0.2);
    const double spread = expected * std::sqrt(2.0 / (3.0 * run.count()));
    INFO(c.thermostat);
    CHECK(now == Approx(expected).margin(4.0 * spread));
  }
}

TEST_CASE("temperatures follow a ramp with the lag of the bath") {
  struct Case {
    std::string thermostat;
    double lag;  ///< ps, relaxation time of the kinetic energy
  };
  for (const Case& c : {Case{"type: langevin, damping: 0.1", 0.05}, Case{"type: csvr, damping: 0.05", 0.05}}) {
    MdRun run(ideal_gas + fmt::format("integrator: {{{}, temperature: \"300 + 20*t\"}}\ninitial_temperature: 300\n"
                                      "timestep: 0.005\n",
                                      c.thermostat));
    run.advance(100);
    std::vector<double> difference;
    for (int k = 0; k < 100; ++k) {
      run.advance(10);
      difference.push_back(run.measure()[temperature] - (300.0 + 20.0 * run.state().time));
    }
    const Estimate d = block_average(difference, 10);
    fmt::print("{}: {:.2f} +- {:.2f} K behind the ramp\n", c.thermostat, d.value, d.error);
    CHECK(agree(d, {-20.0 * c.lag, 0.3}));
  }
}

TEST_CASE("the energy of atoms and heat bath together does not drift") {
  for (const auto& thermostat : {langevin, csvr}) {
    const Drift coarse = drift_of(thermostat, 0.01), fine = drift_of(thermostat, 0.005);
    fmt::print("{}: conserved energy rms {:.3g} and {:.3g} eV/atom, drift {:.3g} and {:.3g} eV/atom/ps\n", thermostat,
               coarse.rms, fine.rms, coarse.slope, fine.slope);
    CHECK(coarse.rms < 2e-5);
    CHECK(coarse.rms / fine.rms > 2.5);
    CHECK(std::abs(fine.slope) < 1e-6);
  }
}

TEST_CASE("formulas of heat bath and piston know the step as they know the time") {
  const auto after = [](const std::string& integrator) {
    MdRun run(small_argon + "initial_temperature: 150\ntimestep: 0.01\nintegrator: " + integrator, 3);
    run.advance(40);
    return run.measure();
  };
  const auto compare = [&](const std::string& by_time, const std::string& by_step, const std::string& constant) {
    INFO(by_step);
    const auto t = after(by_time), step = after(by_step), fixed = after(constant);
    for (const Quantity q : {temperature, potential, volume}) CHECK(step[q] == Approx(t[q]).epsilon(1e-7));
    CHECK(std::abs(step[potential] - fixed[potential]) > 1e-3);
  };
  const auto heat = [](const std::string& type, const std::string& formula) {
    return fmt::format("{{type: {}, damping: 0.05, temperature: \"{}\"}}\n", type, formula);
  };
  for (const std::string type : {"langevin", "csvr", "npt, pressure: 0, pressure_damping: 0.5"})
    compare(heat(type, "20 + 2000*t"), heat(type, "20 + 20*step"), heat(type, "20"));
  const auto press = [](const std::string& formula) {
    return fmt::format("{{type: npt, temperature: 150, pressure_damping: 0.2, pressure: \"{}\"}}\n", formula);
  };
  compare(press("1e5*t"), press("1000*step"), press("0"));
}

TEST_CASE("a heat bath below zero is refused when it comes to that") {
  for (const std::string type : {"langevin", "csvr", "npt, pressure: 0"}) {
    MdRun run(small_argon + "timestep: 0.01\nintegrator: {type: " + type + ", temperature: \"30 - 10*step\"}\n");
    run.advance(3);
    CHECK_THROWS_WITH(run.advance(1), Catch::Contains("the thermostat temperature '30 - 10*step' is -10 K at step 4") &&
                                          Catch::Contains("'max(30 - 10*step, 10)'"));
  }
}
