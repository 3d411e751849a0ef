#include "plugins/md/integrators/csvr.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/constants.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/random.hpp"
#include "plugins/md/integrators/bath_temperature.hpp"

namespace cambium::md {

namespace {

/// Gamma-distributed random variate of shape a >= 1 and scale 1 (G. Marsaglia and W. W. Tsang, ACM TOMS 26, 363
/// (2000)). Every attempt has its own id, so that the result depends on (seed, step) only.
double gamma_deviate(double a, std::uint64_t seed, std::int64_t step) {
  const double d = a - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * d);
  for (std::uint64_t attempt = 1;; ++attempt) {
    const Random4 random(seed, Stream::csvr, attempt, step);
    const double x = random.normal(0), t = 1.0 + c * x, v = t * t * t;
    if (v <= 0.0) continue;
    if (std::log(random.uniform(2)) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

/// Sum of the squares of n independent standard normal deviates.
double sum_of_squares(double n, std::uint64_t seed, std::int64_t step) {
  if (n < 2.0) {
    const double x = Random4(seed, Stream::csvr, 1, step).normal(0);
    return n < 1.0 ? 0.0 : x * x;
  }
  return 2.0 * gamma_deviate(0.5 * n, seed, step);
}

}  // namespace

double csvr_factor(double kinetic_energy, double dof, double temperature, double dt_over_tau, std::uint64_t seed,
                   std::int64_t step) {
  if (kinetic_energy <= 0.0 || dof <= 0.0) return 1.0;
  const double c = std::exp(-dt_over_tau);
  const double share = 0.5 * constants::boltzmann * temperature / kinetic_energy;  // target per degree of freedom / K
  const double r = Random4(seed, Stream::csvr, 0, step).normal(0);
  const double rest = sum_of_squares(dof - 1.0, seed, step);
  const double square = c + (1.0 - c) * share * (r * r + rest) + 2.0 * r * std::sqrt(c * (1.0 - c) * share);
  const double sign = r + std::sqrt(c / ((1.0 - c) * share)) < 0.0 ? -1.0 : 1.0;
  return sign * std::sqrt(std::max(square, 0.0));
}

void Csvr::after_forces(Dynamics& d, const StepInfo& step) {
  d.kick(0.5 * step.dt);
  const double kinetic = d.kinetic_energy();
  const double factor = csvr_factor(kinetic, d.degrees_of_freedom(), bath_temperature(params_.temperature, step),
                                    step.dt / params_.damping, seed_, step.step);
  d.scale_velocities(factor);
  reservoir_ -= (factor * factor - 1.0) * kinetic;
}

std::string Csvr::summary() const {
  return fmt::format("stochastic velocity rescaling, damping time {} ps", params_.damping);
}

std::vector<Citation> Csvr::citations() const {
  return {{"bussi2007", R"(@article{bussi2007,
  author = {Bussi, Giovanni and Donadio, Davide and Parrinello, Michele},
  title = {Canonical sampling through velocity rescaling},
  journal = {J. Chem. Phys.}, volume = {126}, pages = {014101}, year = {2007}})"}};
}

void Csvr::save(io::Group& group) const { group.set_attribute("reservoir_energy", reservoir_); }

void Csvr::load(const io::Group& group) { reservoir_ = group.attribute<double>("reservoir_energy"); }

}  // namespace cambium::md
