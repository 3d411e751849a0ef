#include "plugins/md/integrators/fire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/key_error.hpp"
#include "core/io/hdf5/h5.hpp"

namespace cambium::md {

namespace {

/// Power F.v, F.F and v.v over the free atoms of this rank.
std::array<double, 3> products(const Dynamics& d) {
  const Particles& p = d.particles();
  const auto v = p.v, f = p.f;
  const auto group = p.group;
  const std::uint32_t frozen = d.frozen();
  double fv = 0.0, ff = 0.0, vv = 0.0;
  Kokkos::parallel_reduce(
      "fire::products", Range(0, p.nlocal),
      KOKKOS_LAMBDA(int i, double& a, double& b, double& c) {
        if (group(i) & frozen) return;
        for (int k = 0; k < 3; ++k) {
          a += f(i, k) * v(i, k);
          b += f(i, k) * f(i, k);
          c += v(i, k) * v(i, k);
        }
      },
      fv, ff, vv);
  return {fv, ff, vv};
}

double largest_norm(const Dynamics& d, const View<double* [3]>& a) {
  const Particles& p = d.particles();
  const auto group = p.group;
  const std::uint32_t frozen = d.frozen();
  double largest = 0.0;
  Kokkos::parallel_reduce(
      "fire::largest_norm", Range(0, p.nlocal),
      KOKKOS_LAMBDA(int i, double& m) {
        if (group(i) & frozen) return;
        const double n = a(i, 0) * a(i, 0) + a(i, 1) * a(i, 1) + a(i, 2) * a(i, 2);
        if (n > m) m = n;
      },
      Kokkos::Max<double>(largest));
  return std::sqrt(largest);
}

/// v = a v + b f on free atoms, 0 on frozen ones.
void mix(const Dynamics& d, double a, double b) {
  const Particles& p = d.particles();
  const auto v = p.v, f = p.f;
  const auto group = p.group;
  const std::uint32_t frozen = d.frozen();
  Kokkos::parallel_for(
      "fire::mix", Range(0, p.nlocal), KOKKOS_LAMBDA(int i) {
        const double free = (group(i) & frozen) ? 0.0 : 1.0;
        for (int k = 0; k < 3; ++k) v(i, k) = free * (a * v(i, k) + b * f(i, k));
      });
}

/// Mean mass of all atoms (g/mol).
double mean_mass(const Dynamics& d, const Comm& comm) {
  const Particles& p = d.particles();
  const auto x = p.x;
  const auto inverse = d.inverse_masses();
  double sum = 0.0;
  Kokkos::parallel_reduce(
      "fire::mass", Range(0, p.nlocal),
      KOKKOS_LAMBDA(int i, double& s) { s += 1.0 / inverse(static_cast<int>(x(i, 3))); }, sum);
  return comm.sum(sum) / static_cast<double>(p.nglobal);
}

/// Å of the cell's coordinate for a change of ln L by 1.
double cell_length(const Particles& p) {
  const auto atoms = static_cast<double>(p.nglobal);
  return 3.0 * std::sqrt(atoms) * std::cbrt(p.box.volume() / atoms);
}

}  // namespace

void Fire::look_at_cell(Dynamics& d) {
  const auto now = d.measure();
  const double volume = d.particles().box.volume(), trace = now.virial[0] + now.virial[4] + now.virial[8];
  pressure_ = trace / (3.0 * volume) * constants::bar_per_ev_per_a3;
  cell_force_ = (trace - 3.0 * volume * *params_.pressure / constants::bar_per_ev_per_a3) / cell_length(d.particles());
}

void Fire::look_at_forces(Dynamics& d) {
  const Comm& comm = d.context().comm;
  auto sums = products(d);
  comm.sum(sums);
  std::array<double, 2> largest{largest_norm(d, d.particles().f), largest_norm(d, d.particles().v)};
  comm.max(largest);
  power_ = sums[0];
  force2_ = sums[1];
  velocity2_ = sums[2];
  largest_force_ = largest[0];
  largest_velocity_ = largest[1];
  power_ += cell_force_ * cell_velocity_;
  force2_ += cell_force_ * cell_force_;
  velocity2_ += cell_velocity_ * cell_velocity_;
}

void Fire::start(Dynamics& d) {
  if (params_.pressure && d.frozen())
    throw KeyError(
        "fire.pressure.frozen", "pressure",
        "fire: `pressure` moves every atom with the cell, so it cannot hold the groups in 'frozen' in place; "
        "leave one of them out");
  mix(d, 0.0, 0.0);
  mass_ = mean_mass(d, d.context().comm);
  if (params_.pressure) look_at_cell(d);
  look_at_forces(d);
}

void Fire::resume(Dynamics& d) {
  mass_ = mean_mass(d, d.context().comm);
  look_at_forces(d);
}

/// Moves atoms and cell along their velocities.
void Fire::move(Dynamics& d, double dt) {
  d.drift(dt);
  if (!params_.pressure || cell_velocity_ == 0.0) return;
  const double length = cell_length(d.particles());
  const double most = params_.largest_move * 3.0 * std::sqrt(static_cast<double>(d.particles().nglobal)) / length;
  d.scale_cell(std::exp(std::clamp(cell_velocity_ * dt / length, -most, most)), 1.0);
}

void Fire::before_forces(Dynamics& d, const StepInfo& step) {
  constexpr int delay = 5;
  constexpr double grow = 1.1, shrink = 0.5, start_mixing = 0.1, mixing_decay = 0.99;
  if (dt_ == 0.0) dt_ = step.dt;
  if (power_ > 0.0 || velocity2_ == 0.0) {
    if (++downhill_ > delay) {
      dt_ = std::min(dt_ * grow, params_.largest_timestep);
      mixing_ *= mixing_decay;
    }
  } else {
    downhill_ = 0;
    dt_ *= shrink;
    mixing_ = start_mixing;
    move(d, -0.5 * dt_);  // step back, as the last move went uphill
    d.scale_velocities(0.0);
    cell_velocity_ = 0.0;
    velocity2_ = largest_velocity_ = 0.0;
  }
  d.kick(dt_);
  const double b = force2_ > 0.0 ? mixing_ * std::sqrt(velocity2_ / force2_) : 0.0;
  mix(d, 1.0 - mixing_, b);
  if (params_.pressure)
    cell_velocity_ =
        (1.0 - mixing_) * (cell_velocity_ + cell_force_ * dt_ / (constants::mvv2e * mass_)) + b * cell_force_;
  const double reach = d.context().comm.max(largest_norm(d, d.particles().v)) * dt_;
  move(d, reach > params_.largest_move ? dt_ * params_.largest_move / reach : dt_);
}

void Fire::after_forces(Dynamics& d, const StepInfo&) {
  if (params_.pressure) look_at_cell(d);
  look_at_forces(d);
}

bool Fire::finished() const {
  const bool cell = !params_.pressure || std::abs(pressure_ - *params_.pressure) < params_.pressure_tolerance;
  return cell && largest_force_ < params_.force_tolerance;
}

std::string Fire::summary() const {
  const auto text = fmt::format("FIRE minimisation until no force exceeds {} eV/Å", params_.force_tolerance);
  if (!params_.pressure) return text;
  return fmt::format("{} and the pressure is {:g} bar, to {:g} bar", text, *params_.pressure,
                     params_.pressure_tolerance);
}

std::vector<Result> Fire::results() const {
  std::vector<Result> out{{.key = "largest_force",
                           .label = "largest force",
                           .value = largest_force_,
                           .unit = "eV/Å",
                           .remark = largest_force_ < params_.force_tolerance
                                         ? "converged"
                                         : fmt::format("not below {} eV/Å; give more steps", params_.force_tolerance),
                           .digits = 3}};
  if (params_.pressure)
    out.push_back({"pressure_of_the_relaxed_cell", "pressure of the relaxed cell", pressure_, "bar"});
  return out;
}

std::vector<Citation> Fire::citations() const {
  return {{"bitzek2006", R"(@article{bitzek2006,
  author = {Bitzek, Erik and Koskinen, Pekka and G{\"a}hler, Franz and Moseler, Michael and Gumbsch, Peter},
  title = {Structural relaxation made simple},
  journal = {Phys. Rev. Lett.}, volume = {97}, pages = {170201}, year = {2006}})"}};
}

void Fire::save(io::Group& group) const {
  group.set_attribute("timestep", dt_);
  group.set_attribute("mixing", mixing_);
  group.set_attribute("downhill", static_cast<std::int64_t>(downhill_));
  group.set_attribute("cell_velocity", cell_velocity_);
  group.set_attribute("cell_force", cell_force_);
  group.set_attribute("pressure", pressure_);
}

void Fire::load(const io::Group& group) {
  dt_ = group.attribute<double>("timestep");
  mixing_ = group.attribute<double>("mixing");
  downhill_ = static_cast<int>(group.attribute<std::int64_t>("downhill"));
  if (!group.has_attribute("cell_velocity")) return;  // written by versions without `pressure`
  cell_velocity_ = group.attribute<double>("cell_velocity");
  cell_force_ = group.attribute<double>("cell_force");
  pressure_ = group.attribute<double>("pressure");
}

}  // namespace cambium::md
