#include "plugins/md/integrators/langevin.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/constants.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/random.hpp"
#include "plugins/md/integrators/bath_temperature.hpp"

namespace cambium::md {

/// v = c1 v + sqrt((1 - c1^2) kT/m) xi for every free atom; returns the change of kinetic energy on this rank (eV).
static double ornstein_uhlenbeck(Dynamics& d, double c1, double temperature, std::uint64_t seed, std::int64_t step) {
  const auto v = d.particles().v;
  const auto x = d.particles().x;
  const auto tag = d.particles().tag;
  const auto group = d.particles().group;
  const std::uint32_t frozen = d.frozen();
  const auto inv_m = d.inverse_masses();
  const double variance = (1.0 - c1 * c1) * constants::boltzmann * temperature / constants::mvv2e;
  double gained = 0.0;
  Kokkos::parallel_reduce(
      "md::langevin", Range(0, d.particles().nlocal),
      KOKKOS_LAMBDA(int i, double& sum) {
        if (group(i) & frozen) return;
        const double im = inv_m(static_cast<int>(x(i, 3)));
        const Random4 random(seed, Stream::langevin, tag(i), step);
        const double sigma = std::sqrt(variance * im);
        double before = 0.0, after = 0.0;
        for (int k = 0; k < 3; ++k) {
          before += v(i, k) * v(i, k);
          v(i, k) = c1 * v(i, k) + sigma * random.normal(k);
          after += v(i, k) * v(i, k);
        }
        sum += 0.5 * constants::mvv2e / im * (after - before);
      },
      gained);
  return gained;
}

void Langevin::before_forces(Dynamics& d, const StepInfo& step) {
  const double temperature = bath_temperature(params_.temperature, step);
  d.kick_and_drift(0.5 * step.dt, 0.5 * step.dt);
  reservoir_ -= ornstein_uhlenbeck(d, std::exp(-step.dt / params_.damping), temperature, seed_, step.step);
  d.drift(0.5 * step.dt);
}

double Langevin::reservoir_energy(const Comm& comm) {
  const double total = comm.sum(reservoir_);
  reservoir_ = comm.root() ? total : 0.0;
  return total;
}

std::string Langevin::summary() const { return fmt::format("Langevin (BAOAB), damping time {} ps", params_.damping); }

std::vector<Citation> Langevin::citations() const {
  return {{"leimkuhler2013", R"(@article{leimkuhler2013,
  author = {Leimkuhler, Benedict and Matthews, Charles},
  title = {Robust and efficient configurational molecular sampling via {Langevin} dynamics},
  journal = {J. Chem. Phys.}, volume = {138}, pages = {174102}, year = {2013}})"}};
}

void Langevin::save(io::Group& group) const { group.set_attribute("reservoir_energy", reservoir_); }

void Langevin::load(const io::Group& group) {
  reservoir_ = is_root_ ? group.attribute<double>("reservoir_energy") : 0.0;
}

}  // namespace cambium::md
