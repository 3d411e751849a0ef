#include "core/particles/velocities.hpp"

#include <cmath>

#include "core/base/constants.hpp"
#include "core/parallel/random.hpp"
#include "core/parallel/sums.hpp"

namespace cambium {
namespace {

View<double*> masses_on_device(const Particles& p) {
  View<double*> mass("masses", p.species.size());
  const auto host = Kokkos::create_mirror_view(mass);
  for (std::size_t k = 0; k < p.species.size(); ++k) host(k) = p.species[k].mass;
  Kokkos::deep_copy(mass, host);
  return mass;
}

/// Draws unscaled thermal velocities; returns the number of atoms of this rank that move.
int draw(const Particles& p, double temperature, std::uint64_t seed, std::uint32_t frozen) {
  const auto x = p.x;
  const auto v = p.v;
  const auto tag = p.tag;
  const auto group = p.group;
  const auto mass = masses_on_device(p);
  const double thermal = constants::boltzmann * temperature / constants::mvv2e;
  int moving = 0;
  Kokkos::parallel_reduce(
      "velocities: draw", Range(0, p.nlocal),
      KOKKOS_LAMBDA(int i, int& count) {
        const bool moves = (group(i) & frozen) == 0;
        count += moves;
        const double width = moves ? std::sqrt(thermal / mass(static_cast<int>(x(i, 3)))) : 0.0;
        const Random4 random(seed, Stream::velocities, static_cast<std::uint64_t>(tag(i)), 0);
        for (int k = 0; k < 3; ++k) v(i, k) = width * random.normal(k);
      },
      moving);
  return moving;
}

/// Momentum (3), mass and sum of m v^2 over the owned atoms of all ranks.
Sums<5> moments(const Particles& p, const Comm& comm) {
  const auto x = p.x;
  const auto v = p.v;
  const auto mass = masses_on_device(p);
  Sums<5> sums;
  Kokkos::parallel_reduce(
      "velocities: moments", Range(0, p.nlocal),
      KOKKOS_LAMBDA(int i, Sums<5>& sum) {
        const double m = mass(static_cast<int>(x(i, 3)));
        for (int k = 0; k < 3; ++k) {
          sum.v[k] += m * v(i, k);
          sum.v[4] += m * v(i, k) * v(i, k);
        }
        sum.v[3] += m;
      },
      Kokkos::Sum<Sums<5>>(sums));
  comm.sum(sums.v);
  return sums;
}

void scale(const Particles& p, double factor) {
  const auto v = p.v;
  Kokkos::parallel_for(
      "velocities: scale", Range(0, p.nlocal), KOKKOS_LAMBDA(int i) {
        for (int k = 0; k < 3; ++k) v(i, k) *= factor;
      });
}

}  // namespace

void remove_drift(Particles& p, const Comm& comm) {
  const Sums<5> sums = moments(p, comm);
  const double mass = sums.v[3];
  if (mass <= 0.0) return;
  const double ux = sums.v[0] / mass, uy = sums.v[1] / mass, uz = sums.v[2] / mass;
  const auto v = p.v;
  Kokkos::parallel_for(
      "velocities: remove drift", Range(0, p.nlocal), KOKKOS_LAMBDA(int i) {
        v(i, 0) -= ux;
        v(i, 1) -= uy;
        v(i, 2) -= uz;
      });
}

void init_velocities(Particles& p, const Comm& comm, double temperature, std::uint64_t seed, std::uint32_t frozen) {
  const std::int64_t moving = comm.sum(static_cast<std::int64_t>(draw(p, temperature, seed, frozen)));
  const bool all_move = moving == comm.sum(static_cast<std::int64_t>(p.nlocal));
  if (all_move) remove_drift(p, comm);
  const double freedom = 3.0 * static_cast<double>(moving) - (all_move ? 3.0 : 0.0);
  const double twice_kinetic = constants::mvv2e * moments(p, comm).v[4];
  const double wanted = freedom * constants::boltzmann * temperature;
  scale(p, freedom > 0.0 && twice_kinetic > 0.0 ? std::sqrt(wanted / twice_kinetic) : 0.0);
}

}  // namespace cambium
