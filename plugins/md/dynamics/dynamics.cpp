#include "plugins/md/dynamics/dynamics.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/base/constants.hpp"
#include "core/base/error.hpp"
#include "plugins/md/dynamics/bad_atom.hpp"

namespace cambium::md {

using constants::bar_per_ev_per_a3;
using constants::boltzmann;
using constants::mvv2e;

Dynamics::Dynamics(Particles& particles, Domain& domain, Potential& potential, double skin, Context& context)
    : particles_(particles), domain_(domain), potential_(potential), context_(context),
      neighbors_(particles, domain, potential.cutoff(), skin, context) {
  inverse_mass_ = View<double*>("md::inverse_mass", particles.species.size());
  auto host = Kokkos::create_mirror_view(inverse_mass_);
  for (std::size_t k = 0; k < particles.species.size(); ++k) host(k) = 1.0 / particles.species[k].mass;
  Kokkos::deep_copy(inverse_mass_, host);
}

void Dynamics::kick(double dt) {
  const auto v = particles_.v, f = particles_.f;
  const auto x = particles_.x;
  const auto group = particles_.group;
  const std::uint32_t frozen = frozen_;
  const auto inv_m = inverse_mass_;
  const double c = dt / mvv2e;
  Kokkos::parallel_for(
      "md::kick", Range(0, particles_.nlocal), KOKKOS_LAMBDA(int i) {
        const double s = (group(i) & frozen) ? 0.0 : c * inv_m(static_cast<int>(x(i, 3)));
        for (int k = 0; k < 3; ++k) v(i, k) += s * f(i, k);
      });
}

void Dynamics::drift(double dt) { kick_and_drift(0.0, dt); }

void Dynamics::kick_and_drift(double kick_dt, double drift_dt) {
  const auto v = particles_.v, f = particles_.f;
  const auto x = particles_.x;
  const auto group = particles_.group;
  const std::uint32_t frozen = frozen_;
  const auto inv_m = inverse_mass_;
  const auto start = neighbors_.built_at();
  const double c = kick_dt / mvv2e;
  double moved = 0.0;
  Kokkos::parallel_reduce(
      "md::kick_and_drift", Range(0, particles_.nlocal),
      KOKKOS_LAMBDA(int i, double& largest) {
        const double s = (group(i) & frozen) ? 0.0 : c * inv_m(static_cast<int>(x(i, 3)));
        double d2 = 0.0;
        for (int k = 0; k < 3; ++k) {
          const double vk = v(i, k) + s * f(i, k);
          const double xk = x(i, k) + vk * drift_dt;
          const double d = xk - start(i, k);
          v(i, k) = vk;
          x(i, k) = xk;
          d2 += d * d;
        }
        // A NaN position must count as an infinite displacement: comparisons with NaN are false.
        if (!(d2 <= largest)) largest = d2 == d2 ? d2 : 1e300;
      },
      Kokkos::Max<double>(moved));
  neighbors_.moved(moved);
}

void Dynamics::stop_frozen() {
  const auto v = particles_.v;
  const auto group = particles_.group;
  const std::uint32_t frozen = frozen_;
  Kokkos::parallel_for(
      "md::stop_frozen", Range(0, particles_.nlocal), KOKKOS_LAMBDA(int i) {
        if (group(i) & frozen) v(i, 0) = v(i, 1) = v(i, 2) = 0.0;
      });
}

void Dynamics::scale_velocities(double factor) {
  const auto v = particles_.v;
  Kokkos::parallel_for(
      "md::scale_velocities", Range(0, particles_.nlocal), KOKKOS_LAMBDA(int i) {
        for (int k = 0; k < 3; ++k) v(i, k) *= factor;
      });
}

void Dynamics::scale_cell(double factor, double velocity_factor) {
  Box box = particles_.box;
  const double o[3] = {box.origin[0], box.origin[1], box.origin[2]};
  for (auto& row : box.h)
    for (double& value : row) value *= factor;
  const auto x = particles_.x;
  const auto v = particles_.v, start = neighbors_.built_at();
  Kokkos::parallel_for(
      "md::scale_cell", Range(0, particles_.nlocal), KOKKOS_LAMBDA(int i) {
        for (int k = 0; k < 3; ++k) {
          x(i, k) = o[k] + factor * (x(i, k) - o[k]);
          start(i, k) = o[k] + factor * (start(i, k) - o[k]);
          v(i, k) *= velocity_factor;
        }
      });
  particles_.box = box;
  neighbors_.stretched(factor);
}

void Dynamics::update_neighbors(std::int64_t step) {
  if (!neighbors_.update(step))
    report_bad_atom(particles_, neighbors_.list(), axes_, context_.comm.rank(), step, Unsound::position);
}

void Dynamics::compute_forces(bool totals, std::int64_t step) {
  const bool ghosts = potential_.writes_ghost_forces();
  output_.f = particles_.f;
  totals_ = totals;
  output_.energy = 0.0;
  for (double& w : output_.virial) w = 0.0;
  const auto f = particles_.f;
  Kokkos::parallel_for(
      "md::zero_forces", Range(0, ghosts ? particles_.total() : particles_.nlocal),
      KOKKOS_LAMBDA(int i) { f(i, 0) = f(i, 1) = f(i, 2) = 0.0; });
  {
    const auto timer = context_.timing.scope("force");
    potential_.compute(particles_, neighbors_.list(), domain_, ForceRequest{totals, false}, output_, context_);
  }
  if (ghosts) {
    const auto timer = context_.timing.scope("comm");
    domain_.reverse_add(particles_.f);
  }
  if (totals) check_forces(step);
}

void Dynamics::check_forces(std::int64_t step) {
  const auto f = particles_.f;
  int bad = 0;
  Kokkos::parallel_reduce(
      "md::check_forces", Range(0, particles_.nlocal),
      KOKKOS_LAMBDA(int i, int& count) {
        const double s = f(i, 0) + f(i, 1) + f(i, 2);
        if (!(s - s == 0.0)) ++count;
      },
      bad);
  if (context_.comm.max(bad) == 0) return;
  if (bad) report_bad_atom(particles_, neighbors_.list(), axes_, context_.comm.rank(), step, Unsound::force);
  throw NumericalError(fmt::format("step {}: a force on another rank is not a finite number", step), true);
}

namespace {

/// Sum of m v_a v_b (xx, yy, zz, xy, xz, yz) as one reduction.
struct KineticTensor {
  double xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;
  KOKKOS_INLINE_FUNCTION KineticTensor& operator+=(const KineticTensor& o) {
    xx += o.xx;
    yy += o.yy;
    zz += o.zz;
    xy += o.xy;
    xz += o.xz;
    yz += o.yz;
    return *this;
  }
};

}  // namespace
}  // namespace cambium::md

namespace Kokkos {
template <>
struct reduction_identity<cambium::md::KineticTensor> {
  KOKKOS_FORCEINLINE_FUNCTION static cambium::md::KineticTensor sum() { return {}; }
};
}  // namespace Kokkos

namespace cambium::md {

static KineticTensor local_kinetic(const Particles& p, const View<double*>& inv_m) {
  const auto v = p.v;
  const auto x = p.x;
  KineticTensor total;
  Kokkos::parallel_reduce(
      "md::kinetic", Range(0, p.nlocal),
      KOKKOS_LAMBDA(int i, KineticTensor& sum) {
        const double m = mvv2e / inv_m(static_cast<int>(x(i, 3)));
        const double vx = v(i, 0), vy = v(i, 1), vz = v(i, 2);
        sum.xx += m * vx * vx;
        sum.yy += m * vy * vy;
        sum.zz += m * vz * vz;
        sum.xy += m * vx * vy;
        sum.xz += m * vx * vz;
        sum.yz += m * vy * vz;
      },
      Kokkos::Sum<KineticTensor>(total));
  return total;
}

double Dynamics::kinetic_energy() {
  const auto t = local_kinetic(particles_, inverse_mass_);
  return context_.comm.sum(0.5 * (t.xx + t.yy + t.zz));
}

Thermodynamics Dynamics::measure() {
  const auto t = local_kinetic(particles_, inverse_mass_);
  std::array<double, 16> sums{t.xx, t.yy, t.zz, t.xy, t.xz, t.yz, output_.energy};
  for (int k = 0; k < 9; ++k) sums[7 + k] = output_.virial[k];
  context_.comm.sum(sums);
  Thermodynamics out;
  out.kinetic = {sums[0], sums[3], sums[4], sums[3], sums[1], sums[5], sums[4], sums[5], sums[2]};
  out.kinetic_energy = 0.5 * (sums[0] + sums[1] + sums[2]);
  out.potential_energy = sums[6];
  const double volume = particles_.box.volume();
  for (int k = 0; k < 9; ++k) {
    out.virial[k] = sums[7 + k];
    out.pressure[k] = (out.kinetic[k] + out.virial[k]) / volume * bar_per_ev_per_a3;
  }
  if (degrees_of_freedom_ > 0.0) out.temperature = 2.0 * out.kinetic_energy / (degrees_of_freedom_ * boltzmann);
  if (!std::isfinite(out.potential_energy))
    throw NumericalError(
        "the potential energy is not a finite number; use a shorter timestep, minimise first, or check for overlapping "
        "atoms");
  return out;
}

void Dynamics::count_degrees_of_freedom(bool momentum_conserved) {
  const auto group = particles_.group;
  const std::uint32_t frozen = frozen_;
  int free_atoms = 0;
  Kokkos::parallel_reduce(
      "md::count_free", Range(0, particles_.nlocal),
      KOKKOS_LAMBDA(int i, int& n) {
        if (!(group(i) & frozen)) ++n;
      },
      free_atoms);
  const std::int64_t total = context_.comm.sum(static_cast<std::int64_t>(free_atoms));
  const bool removes_three = momentum_conserved && total == particles_.nglobal && total > 1;
  degrees_of_freedom_ = 3.0 * total - (removes_three ? 3.0 : 0.0);
}

}  // namespace cambium::md
