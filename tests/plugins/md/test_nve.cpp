// Constant energy: no drift in a liquid, and a second-order integrator.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "tests/catch.hpp"
#include "tests/plugins/md/md_run.hpp"

using namespace cambium;
using namespace cambium::test;

namespace {

struct Liquid {
  std::string name, system;
  double temperature = 0.0;  ///< K
  double timestep = 0.001;   ///< ps, whose halving is looked at: long enough that rounding is far
};

const Liquid argon{"lennard_jones", R"(
structure: {lattice: {type: fcc, a: 5.719, cells: [7, 7, 7], species: [Ar], displacement: 0.3}}
potential: {type: lennard_jones, epsilon: 0.010323, sigma: 3.405, cutoff: 8.5125, truncation: smooth}
)",
                   172.0, 0.008};
const Liquid copper{"sutton_chen", R"(
structure: {lattice: {type: fcc, a: 3.85, cells: [7, 7, 7], species: [Cu], displacement: 0.3}}
potential: {type: sutton_chen, element: Cu, cutoff: 6.0}
)",
                    2000.0, 0.002};
const Liquid silicon{"stillinger_weber", R"(
structure: {lattice: {type: diamond, a: 5.35, cells: [5, 5, 5], species: [Si], displacement: 0.3}}
potential: {type: stillinger_weber}
)",
                     2500.0, 0.001};

/// A liquid at its temperature: melted in a heat bath twice as hot for a picosecond, then kept at its own.
Atoms equilibrated(const Liquid& liquid, double picoseconds) {
  MdRun run(liquid.system + fmt::format("initial_temperature: {0}\ntimestep: 0.002\nintegrator: {{type: langevin, "
                                        "temperature: \"{0} + {0} * step(1 - t)\", damping: 0.1}}\n",
                                        liquid.temperature));
  run.advance(static_cast<int>(std::lround(picoseconds / 0.002)));
  return run.atoms();
}

std::vector<double> energies(MdRun& run, int count, int stride) { return column(run.record(count, stride), conserved); }

/// Root mean square of the total energy about its mean over `picoseconds`.
double fluctuation(const Liquid& liquid, const Atoms& start, double timestep, double picoseconds) {
  MdRun run(liquid.system + fmt::format("timestep: {}\n", timestep), start);
  return std::sqrt(variance(energies(run, static_cast<int>(std::lround(picoseconds / timestep)), 1)));
}

void check_nve(const Liquid& liquid, double picoseconds) {
  const Atoms start = equilibrated(liquid, 4.0);
  MdRun run(liquid.system + "timestep: 0.001\n", start);
  REQUIRE(run.count() >= 1000);
  const int stride = 10;
  const auto rows = run.record(static_cast<int>(std::lround(picoseconds / 0.001)) / stride, stride);
  const double drift = slope(column(rows, conserved), 0.001 * stride) / run.count();
  fmt::print("{}: {} atoms, {:.4g} K, drift {:.2g} eV/atom/ps over {} ps\n", liquid.name, run.count(),
             mean(column(rows, temperature)), drift, picoseconds);
  CHECK(std::abs(drift) < 1e-6);
  CHECK(mean(column(rows, temperature)) == Approx(liquid.temperature).epsilon(0.1));

  const double coarse = fluctuation(liquid, start, liquid.timestep, 0.4);
  const double fine = fluctuation(liquid, start, 0.5 * liquid.timestep, 0.4);
  fmt::print("{}: energy fluctuation {:.3g} eV at {} ps, ratio on halving {:.3f}\n", liquid.name, coarse,
             liquid.timestep, coarse / fine);
  CHECK(coarse / fine > 3.5);
  CHECK(coarse / fine < 4.5);
}

double largest_difference(std::span<const std::array<double, 3>> a, std::span<const std::array<double, 3>> b) {
  double most = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (int d = 0; d < 3; ++d) most = std::max(most, std::abs(a[i][d] - b[i][d]));
  return most;
}

}  // namespace

TEST_CASE("liquid argon keeps its energy, to second order in the time step") { check_nve(argon, 4.0); }

TEST_CASE("liquid copper keeps its energy, to second order in the time step") { check_nve(copper, 4.0); }

TEST_CASE("liquid silicon keeps its energy, to second order in the time step") { check_nve(silicon, 4.0); }

TEST_CASE("a run repeats bit for bit, whichever thread comes first") {
  // Large enough for several threads, where Kokkos has them; those of a Serial one have nothing to race for.
  std::string silicon_8 = silicon.system;
  silicon_8.replace(silicon_8.find("[5, 5, 5]"), 9, "[8, 8, 8]");
  for (const auto& system : {argon.system, copper.system, silicon_8}) {
    const auto after = [&] {
      MdRun run(system + "initial_temperature: 500\ntimestep: 0.001\n");
      run.advance(25);
      return run.atoms();
    };
    const Atoms one = after(), two = after();
    if constexpr (device_is_host) {
      CHECK(one.x == two.x);
      CHECK(one.f == two.f);
    } else {  // a device adds in the order of whichever thread comes first
      CHECK(largest_difference(one.x, two.x) < 1e-9);
      CHECK(largest_difference(one.f, two.f) < 1e-8);
    }
  }
}

TEST_CASE("initial velocities have exactly the temperature that the deck asks for") {
  for (const double wanted : {1.0, 172.0, 5000.0}) {
    MdRun run(argon.system + fmt::format("initial_temperature: {}\n", wanted));
    CHECK(run.measure()[temperature] == Approx(wanted).epsilon(1e-12));
  }
}
