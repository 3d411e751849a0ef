#include "plugins/md/ipi/driven_forces.hpp"

#include "core/particles/right_handed.hpp"
#include "core/particles/structure.hpp"
#include "plugins/md/domain/domain.hpp"

namespace cambium::md {

DrivenForces::DrivenForces(const Particles& atoms, Potential& potential, Context& context)
    : potential_(potential), context_(context) {
  const std::int64_t count = context.comm.sum(static_cast<std::int64_t>(atoms.nlocal));
  type_.assign(static_cast<std::size_t>(count), 0.0);
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), atoms.x);
  const auto tag = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), atoms.tag);
  for (int i = 0; i < atoms.nlocal; ++i) type_[static_cast<std::size_t>(tag(i)) - 1] = x(i, 3);
  context.comm.sum(type_);
  particles_.species = atoms.species;
  potential_.bind(particles_.species);
}

/// Takes an equal part for this rank, independent of where its atoms are.
void DrivenForces::place(const std::vector<double>& positions, const GivenAxes& axes) {
  const auto [first, last] = even_share(atoms(), context_.comm.rank(), context_.comm.size());
  Particles& p = particles_;
  p.nlocal = 0;
  p.nghost = 0;
  p.reserve(static_cast<int>(last - first));
  p.nlocal = static_cast<int>(last - first);
  p.nglobal = atoms();
  const auto x = Kokkos::create_mirror_view(p.x);
  const auto tag = Kokkos::create_mirror_view(p.tag);
  Kokkos::deep_copy(x, p.x);
  Kokkos::deep_copy(tag, p.tag);
  for (std::int64_t n = first; n < last; ++n) {
    const auto row = axes.inside(positions.data() + 3 * n);
    const auto i = static_cast<int>(n - first);
    for (int k = 0; k < 3; ++k) x(i, k) = row[static_cast<std::size_t>(k)];
    x(i, 3) = type_[static_cast<std::size_t>(n)];
    tag(i) = n + 1;
  }
  Kokkos::deep_copy(p.x, x);
  Kokkos::deep_copy(p.tag, tag);
  Kokkos::deep_copy(p.v, 0.0);
  Kokkos::deep_copy(p.image, 0);
  Kokkos::deep_copy(p.group, 0u);
}

DrivenForces::Answer DrivenForces::evaluate(const std::array<double, 9>& cell, const std::vector<double>& positions) {
  double rows[3][3], rotation[3][3];
  for (std::size_t k = 0; k < 9; ++k) rows[k / 3][k % 3] = cell[k];
  make_right_handed(rows);  // the same lattice, and positions stay
  particles_.box = Box::from_vectors(rows, rotation);
  const GivenAxes axes(rotation);
  place(positions, axes);
  const double range = potential_.cutoff();
  Domain domain(context_.comm, particles_.box, {}, range);
  domain.migrate(particles_);
  domain.borders(particles_, range);
  build_neighbors(particles_, range, 0.0, list_);
  ForceOutput out;
  out.f = particles_.f;
  Kokkos::deep_copy(out.f, 0.0);
  potential_.compute(particles_, list_, domain, ForceRequest{true, false}, out, context_);
  if (potential_.writes_ghost_forces()) domain.reverse_add(out.f);
  Answer answer;
  std::vector<double> sums(out.virial, out.virial + 9);
  sums.push_back(out.energy);
  context_.comm.sum(sums);
  answer.energy = sums[9];
  answer.virial = axes.tensor(sums.data());
  answer.forces.assign(type_.size() * 3, 0.0);
  const auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.f);
  const auto tag = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles_.tag);
  for (int i = 0; i < particles_.nlocal; ++i) {
    const auto given = axes.vector(&f(i, 0));
    std::copy(given.begin(), given.end(), answer.forces.begin() + 3 * (tag(i) - 1));
  }
  context_.comm.sum(answer.forces);
  return answer;
}

}  // namespace cambium::md
