#include "plugins/cosmo/gravity/particle_mesh.hpp"

#include <cmath>

#include "core/numerics/exact_sum.hpp"
#include "plugins/cosmo/gravity/clouds.hpp"

namespace cambium::cosmo {
namespace {

void add(const View<double**>& to, const View<double**>& from, double factor) {
  Kokkos::parallel_for(
      "particles: kick", Range(0, static_cast<int>(to.extent(0))), KOKKOS_LAMBDA(int i) {
        for (int d = 0; d < 3; ++d) to(i, d) += factor * from(i, d);
      });
}

void carry(const View<double**>& position, const View<double**>& momentum, double factor, double box) {
  Kokkos::parallel_for(
      "particles: drift", Range(0, static_cast<int>(position.extent(0))), KOKKOS_LAMBDA(int i) {
        for (int d = 0; d < 3; ++d) position(i, d) = wrapped(position(i, d) + factor * momentum(i, d), box);
      });
}

}  // namespace

ParticleMesh::ParticleMesh(int mesh, double box, std::int64_t particles, const Expansion& expansion, Clouds clouds,
                           const Comm& comm)
    : box_(mesh, box), particles_(particles), expansion_(expansion), clouds_(clouds), comm_(comm) {
  mass_ = View<std::int64_t*>("mesh: mass", box_.values());
  for (auto* view : {&waves_, &potential_, &gradient_}) *view = View<double*>("mesh: waves", box_.waves());
  for (auto& field : field_.component) field = View<double*>("mesh: force", box_.values());
}

void ParticleMesh::resize(std::int64_t rows) {
  for (auto* view : {&position, &momentum, &force}) *view = View<double**>("particles", rows, 3);
}

void ParticleMesh::drift(double from, double to) { carry(position, momentum, expansion_.drift(from, to), box_.box()); }

void ParticleMesh::kick(double from, double to) { add(momentum, force, expansion_.kick(from, to)); }

void ParticleMesh::assign() { assign_clouds(clouds_, position, box_.box(), box_.cells(), mass_, comm_); }

void ParticleMesh::solve() {
  contrast(mass_, particles_, field_.component[0]);
  box_.forward(field_.component[0], waves_);
  Kokkos::deep_copy(potential_, waves_);
  const auto made_up_for = finer_than_particles() ? std::nullopt : std::optional(clouds_);
  box_.inverse_laplacian(potential_, -1.5 * expansion_.omega_m(), made_up_for);  // -phi
  for (int d = 0; d < 3; ++d) {
    box_.difference(potential_, d, gradient_);
    box_.backward(gradient_, field_.component[d]);
  }
}

void ParticleMesh::interpolate() { cosmo::interpolate(clouds_, field_, box_.cells(), position, box_.box(), force); }

std::array<double, 2> ParticleMesh::total_momentum() const {
  const auto p = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), momentum);
  ExactSum sums[4];
  for (std::size_t i = 0; i < p.extent(0); ++i) {
    for (int d = 0; d < 3; ++d) sums[d].add(p(i, d));
    sums[3].add(std::hypot(p(i, 0), p(i, 1), p(i, 2)));
  }
  ExactSum::over_ranks(sums, comm_);
  return {std::hypot(sums[0].value(), sums[1].value(), sums[2].value()), sums[3].value()};
}

}  // namespace cambium::cosmo
