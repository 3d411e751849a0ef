#include "plugins/md/integrators/npt.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/key_error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/random.hpp"
#include "plugins/md/integrators/bath_temperature.hpp"

namespace cambium::md {

void Npt::start(Dynamics& d) {
  if (d.frozen())
    throw KeyError(
        "npt.frozen", "",
        "npt moves every atom with the cell, so it cannot hold the groups in 'frozen' in place; use langevin or csvr, "
        "or take 'frozen' out");
  remember(d);
}

void Npt::remember(Dynamics& d) {
  const auto now = d.measure();
  pressure_ = now.mean_pressure();
  temperature_ = now.temperature;
  virial_ = (now.virial[0] + now.virial[4] + now.virial[8]) / 3.0;
}

void Npt::before_forces(Dynamics& d, const StepInfo& step) {
  scaled_by_ = 0.0;
  if (step.step % params_.interval != 1 && params_.interval > 1) {
    d.kick_and_drift(0.5 * step.dt, step.dt);
    return;
  }
  // The cell changes in the middle of the step: there the kinetic energy at the half step, and the mean of the virials
  // at both ends, are second-order accurate, and so is the work done by the piston.
  d.kick_and_drift(0.5 * step.dt, 0.5 * step.dt);
  move_piston(d, step);
  d.drift(0.5 * step.dt);
}

void Npt::move_piston(Dynamics& d, const StepInfo& step) {
  const double dt = params_.interval * step.dt, volume = d.particles().box.volume();
  const double kT = constants::boltzmann *
                    (params_.temperature ? bath_temperature(*params_.temperature, step) : temperature_) *
                    constants::bar_per_ev_per_a3;  // bar Å^3
  const double rate = params_.compressibility * dt / params_.pressure_damping;
  const double noise = Random4(seed_, Stream::barostat, 0, step.step).normal(0);
  scaled_by_ = -rate * (params_.pressure(step.time, static_cast<double>(step.step)) - pressure_) +
               std::sqrt(2.0 * kT * rate / volume) * noise;
  const double factor = std::exp(scaled_by_ / 3.0);
  const double kinetic = d.kinetic_energy();
  d.scale_cell(factor, 1.0 / factor);
  reservoir_ -= (1.0 / (factor * factor) - 1.0) * kinetic;
}

void Npt::after_forces(Dynamics& d, const StepInfo& step) {
  d.kick(0.5 * step.dt);
  if (params_.temperature) {
    const double kinetic = d.kinetic_energy();
    const double factor = csvr_factor(kinetic, d.degrees_of_freedom(), bath_temperature(*params_.temperature, step),
                                      step.dt / params_.damping, seed_, step.step);
    d.scale_velocities(factor);
    reservoir_ -= (factor * factor - 1.0) * kinetic;
  }
  if (!needs_totals(step.step)) return;
  const double before = virial_;
  remember(d);
  reservoir_ += 0.5 * (before + virial_) * scaled_by_;
}

std::string Npt::summary() const {
  return fmt::format("stochastic cell rescaling every {} steps, damping times {} ps (heat) and {} ps (volume)",
                     params_.interval, params_.damping, params_.pressure_damping);
}

std::vector<Citation> Npt::citations() const {
  std::vector<Citation> out{{"bernetti2020", R"(@article{bernetti2020,
  author = {Bernetti, Mattia and Bussi, Giovanni},
  title = {Pressure control using stochastic cell rescaling},
  journal = {J. Chem. Phys.}, volume = {153}, pages = {114107}, year = {2020}})"}};
  return out;
}

void Npt::save(io::Group& group) const {
  group.set_attribute("reservoir_energy", reservoir_);
  group.set_attribute("pressure", pressure_);
  group.set_attribute("temperature", temperature_);
  group.set_attribute("virial", virial_);
}

void Npt::load(const io::Group& group) {
  reservoir_ = group.attribute<double>("reservoir_energy");
  pressure_ = group.attribute<double>("pressure");
  temperature_ = group.attribute<double>("temperature");
  virial_ = group.attribute<double>("virial");
}

}  // namespace cambium::md
