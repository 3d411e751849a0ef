// Pressure tensor, heat flux and third moment beside the exact ones of two drifting bi-Maxwellians.
#include <cmath>

#include "kinetic_run.hpp"
#include "plugins/kinetic/species/higher_moments.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

namespace {

constexpr double mass = 2.0;

/// A part of the particles: its share, drift and width along each velocity.
struct Part {
  double share, drift[2], width[2];
};
constexpr Part parts[] = {{0.7, {0.9, -0.3}, {1.0, 1.3}}, {0.3, {-0.4, 1.5}, {1.4, 0.8}}};

std::string profile(int velocities) {
  std::string out;
  for (const auto& p : parts) {
    out += (out.empty() ? "" : " + ") + std::to_string(p.share);
    for (int d = 0; d < velocities; ++d)
      out += std::string(" * maxwellian(v") + "xy"[d] + ", " + std::to_string(p.drift[d]) + ", " +
             std::to_string(p.width[d]) + ")";
  }
  return "(" + out + ")";
}

double mean(int d) {
  double sum = 0.0;
  for (const auto& p : parts) sum += p.share * p.drift[d];
  return sum;
}

/// <w_i w_j> and <w_i w_j w_k> of the two parts, w from the mean: those of normal distributions.
double exact(int i, int j) {
  double sum = 0.0;
  for (const auto& p : parts)
    sum += p.share * ((p.drift[i] - mean(i)) * (p.drift[j] - mean(j)) + (i == j ? p.width[i] * p.width[i] : 0.0));
  return sum;
}
double exact(int i, int j, int k) {
  double sum = 0.0;
  for (const auto& p : parts) {
    const double a = p.drift[i] - mean(i), b = p.drift[j] - mean(j), c = p.drift[k] - mean(k);
    sum += p.share * (a * b * c + (j == k ? a * p.width[j] * p.width[j] : 0.0) +
                      (i == k ? b * p.width[i] * p.width[i] : 0.0) + (i == j ? c * p.width[i] * p.width[i] : 0.0));
  }
  return sum;
}
double exact_heat_flux(int i, int velocities) {
  double sum = 0.0;
  for (int d = 0; d < velocities; ++d) sum += 0.5 * exact(i, d, d);
  return sum;
}

/// A moment is `factor` times the density, coefficient by coefficient.
void check_ratio(const kinetic::Species& s, const std::vector<double>& moment, double factor) {
  const auto density = s.moment(0);
  REQUIRE(moment.size() == density.size());
  double worst = 0.0;
  for (std::size_t k = 0; k < density.size(); ++k) worst = std::max(worst, std::abs(moment[k] - factor * density[k]));
  CHECK(worst < 2e-3);
}

void check_all(const kinetic::Species& s) {
  const int velocities = s.solver().grid().vdim;
  std::size_t c = 0;
  const auto pressure = higher_moments(s, HigherMoment::pressure), flux = higher_moments(s, HigherMoment::heat_flux),
             third = higher_moments(s, HigherMoment::third_moment);
  for (int i = 0; i < velocities; ++i)
    for (int j = i; j < velocities; ++j) check_ratio(s, pressure[c++], mass * exact(i, j));
  CHECK(c == pressure.size());
  for (int i = 0; i < velocities; ++i)
    check_ratio(s, flux[static_cast<std::size_t>(i)], mass * exact_heat_flux(i, velocities));
  c = 0;
  for (int i = 0; i < velocities; ++i)
    for (int j = i; j < velocities; ++j)
      for (int k = j; k < velocities; ++k) check_ratio(s, third[c++], mass * exact(i, j, k));
  CHECK(c == third.size());
}

VlasovMaxwell::Params two_velocities(int dimensions) {
  VlasovMaxwell::Params p;
  if (dimensions == 1)
    p.domain = domain({"0"}, {"4"}, {8});
  else
    p.domain = domain({"0", "1"}, {"4", "3"}, {4, 4});
  const std::string shape = dimensions == 1 ? "(2 + 0.1*x)" : "(2 + 0.1*x*y)";
  p.species = {
      species("electron", "-1", std::to_string(mass), {"-8", "-8"}, {"8", "8"}, {24, 24}, shape + " * " + profile(2))};
  return p;
}

}  // namespace

TEST_CASE("names of the components are those of the axes") {
  CHECK(component_names(HigherMoment::pressure, 2) ==
        std::vector<std::string>{"pressure_xx", "pressure_xy", "pressure_yy"});
  CHECK(component_names(HigherMoment::heat_flux, 3) ==
        std::vector<std::string>{"heat_flux_x", "heat_flux_y", "heat_flux_z"});
  CHECK(component_names(HigherMoment::third_moment, 2) ==
        std::vector<std::string>{"third_moment_xxx", "third_moment_xxy", "third_moment_xyy", "third_moment_yyy"});
}

TEST_CASE("moments of two drifting bi-Maxwellians in 1x1v") {
  VlasovPoisson::Params p = wave("0.5", 8, 32, "(1 + 0.1*cos(k*x)) * " + profile(1), 9.0);
  p.species[0].mass = std::to_string(mass);
  KineticRun<VlasovPoisson> run(p);
  run.start();
  check_all(*run.physics->species().front());
}

TEST_CASE("moments of two drifting bi-Maxwellians in 1x2v and 2x2v") {
  for (int dimensions : {1, 2}) {
    INFO(dimensions);
    KineticRun<VlasovMaxwell> run(two_velocities(dimensions));
    run.start();
    check_all(*run.physics->species().front());
  }
}
