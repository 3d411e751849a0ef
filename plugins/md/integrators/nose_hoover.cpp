#include "plugins/md/integrators/nose_hoover.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/md/integrators/bath_temperature.hpp"

namespace cambium::md {

double NoseHooverChain::advance(double kinetic, double dof, double temperature, double dt) {
  const double kt = constants::boltzmann * temperature;
  if (kt_of_masses_ == 0.0) kt_of_masses_ = std::max(kt, constants::boltzmann);
  dof_ = dof;
  const std::size_t last = velocity_.size() - 1;
  const auto push = [&](std::size_t k, double h) {
    const double drive = k == 0 ? 2.0 * kinetic - dof * kt : mass(k - 1) * velocity_[k - 1] * velocity_[k - 1] - kt;
    const double damp = k == last ? 1.0 : std::exp(-0.25 * h * velocity_[k + 1]);
    velocity_[k] = (velocity_[k] * damp + 0.5 * h * drive / mass(k)) * damp;
  };
  const double outer = 1.0 / (2.0 - std::cbrt(2.0));
  double factor = 1.0;
  for (const double weight : {outer, 1.0 - 2.0 * outer, outer}) {
    const double h = weight * dt;
    for (std::size_t k = last + 1; k-- > 0;) push(k, h);
    const double scale = std::exp(-h * velocity_[0]);
    factor *= scale;
    kinetic *= scale * scale;
    for (std::size_t k = 0; k <= last; ++k) potential_ += (k == 0 ? dof : 1.0) * kt * h * velocity_[k];
    for (std::size_t k = 0; k <= last; ++k) push(k, h);
  }
  return factor;
}

double NoseHooverChain::energy() const {
  double sum = potential_;
  for (std::size_t k = 0; k < velocity_.size(); ++k) sum += 0.5 * mass(k) * velocity_[k] * velocity_[k];
  return sum;
}

std::vector<double> NoseHooverChain::state() const {
  std::vector<double> out = velocity_;
  out.insert(out.end(), {potential_, kt_of_masses_, dof_});
  return out;
}

void NoseHooverChain::restore(const std::vector<double>& state) {
  if (state.size() != velocity_.size() + 3)
    throw InputError(
        fmt::format("nose_hoover: the checkpoint has a chain of {} thermostats, the deck one of {}; give "
                    "the deck the same `chain`",
                    static_cast<std::int64_t>(state.size()) - 3, velocity_.size()));
  std::copy_n(state.begin(), velocity_.size(), velocity_.begin());
  potential_ = state[velocity_.size()];
  kt_of_masses_ = state[velocity_.size() + 1];
  dof_ = state[velocity_.size() + 2];
}

void NoseHoover::rescale(Dynamics& d, const StepInfo& step) {
  d.scale_velocities(chain_.advance(d.kinetic_energy(), d.degrees_of_freedom(),
                                    bath_temperature(params_.temperature, step), 0.5 * step.dt));
}

void NoseHoover::before_forces(Dynamics& d, const StepInfo& step) {
  rescale(d, step);
  d.kick_and_drift(0.5 * step.dt, step.dt);
}

void NoseHoover::after_forces(Dynamics& d, const StepInfo& step) {
  d.kick(0.5 * step.dt);
  rescale(d, step);
}

std::string NoseHoover::summary() const {
  return fmt::format("Nosé-Hoover chain of {}, damping time {} ps", params_.chain, params_.damping);
}

std::vector<Citation> NoseHoover::citations() const {
  return {
      {"Martyna1992",
       "@article{Martyna1992,\n  author = {Martyna, Glenn J. and Klein, Michael L. and Tuckerman, Mark},\n  title = "
       "{Nos{\\'e}-{Hoover} chains: The canonical ensemble via continuous dynamics},\n  journal = {The Journal of "
       "Chemical Physics},\n  volume = {97},\n  pages = {2635--2643},\n  year = {1992},\n  doi = "
       "{10.1063/1.463940}\n}\n"}};
}

void NoseHoover::save(io::Group& group) const {
  group.write("nose_hoover", chain_.state())
      .set_attribute("doc",
                     "velocities of the thermostats (1/ps), their potential energy (eV), kT of masses (eV), dof");
}

void NoseHoover::load(const io::Group& group) { chain_.restore(group.read<std::vector<double>>("nose_hoover")); }

}  // namespace cambium::md
