#include "apps/lammps/host_atoms.hpp"

#include "core/base/error.hpp"

namespace cambium::lammps {

void HostAtoms::renew(const HostArrays& a) {
  host_rows_ = a.nlocal + a.nghost;
  host_row_.clear();
  for (int i = 0; i < host_rows_; ++i) {
    if (i == a.nlocal) particles.nlocal = static_cast<int>(host_row_.size());
    if (species_of[a.type[i]] >= 0) host_row_.push_back(i);
  }
  if (a.nghost == 0) particles.nlocal = static_cast<int>(host_row_.size());
  particles.nghost = static_cast<int>(host_row_.size()) - particles.nlocal;
  same_rows_ = static_cast<int>(host_row_.size()) == host_rows_;
  particles.nglobal = a.natoms;
  particles.reserve(particles.total());
  const auto tags = Kokkos::create_mirror_view(particles.tag);
  for (std::size_t k = 0; k < host_row_.size(); ++k) tags(k) = a.tag ? a.tag[host_row_[k]] : 0;
  Kokkos::deep_copy(particles.tag, tags);
  refresh(a);
  particles.place_sentinel();
}

void HostAtoms::refresh(const HostArrays& a) {
  const double h[3][3] = {{a.cell[0], 0, 0}, {a.cell[3], a.cell[1], 0}, {a.cell[4], a.cell[5], a.cell[2]}};
  for (int i = 0; i < 3; ++i) {
    particles.box.origin[i] = a.corner[i];
    for (int j = 0; j < 3; ++j) particles.box.h[i][j] = h[i][j];
  }
  const auto x = Kokkos::create_mirror_view(particles.x);
  Kokkos::deep_copy(x, particles.x);  // keeps the sentinel
  const int rows = particles.total();
  if (same_rows_)  // nothing to look up
    for (int k = 0; k < rows; ++k)
      for (int d = 0; d < 3; ++d) x(k, d) = a.position[3 * k + d];
  else
    for (int k = 0; k < rows; ++k)
      for (int d = 0; d < 3; ++d) x(k, d) = a.position[3 * host_row(k) + d];
  // Monte Carlo moves change types between two lists.
  for (int k = 0; k < rows; ++k) x(k, 3) = species_of[a.type[host_row(k)]];
  Kokkos::deep_copy(particles.x, x);
}

void HostAtoms::leave_out(const std::function<bool(int, int)>& left_out, NeighborList& list) const {
  const auto offset = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.offset);
  const auto count = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.count);
  const auto index = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.index);
  const int sentinel = particles.total();
  for (int i = 0; i < particles.nlocal; ++i) {
    const std::int64_t first = offset(i);
    int kept = 0;
    for (int n = 0; n < count(i); ++n) {
      const int j = index(first + n);
      if (!left_out(host_row(i), host_row(j))) index(first + kept++) = j;
    }
    for (int n = kept; n < count(i); ++n) index(first + n) = sentinel;
    list.pairs -= count(i) - kept;
    count(i) = kept;
  }
  Kokkos::deep_copy(list.count, count);
  Kokkos::deep_copy(list.index, index);
}

View<double* [3]> HostAtoms::in_place([[maybe_unused]] double* forces, int room) const {
  if (!same_rows_ || room <= particles.total()) return {};
  if constexpr (device_is_host)
    return View<double* [3]>(forces, static_cast<std::size_t>(particles.total()) + 1);
  else
    return {};
}

void HostAtoms::add_forces(View<double* [3]> forces, int rows, double* to) const {
  const auto f = Kokkos::create_mirror_view(forces);
  Kokkos::deep_copy(f, forces);
  if (same_rows_)
    for (int k = 0; k < rows; ++k)
      for (int d = 0; d < 3; ++d) to[3 * k + d] += f(k, d);
  else
    for (int k = 0; k < rows; ++k)
      for (int d = 0; d < 3; ++d) to[3 * host_row(k) + d] += f(k, d);
}

void HostAtoms::forward(View<double*> per_atom) {
  const auto host = Kokkos::create_mirror_view(per_atom);
  Kokkos::deep_copy(host, per_atom);
  scratch_.assign(host_rows_, 0.0);
  for (int k = 0; k < particles.nlocal; ++k) scratch_[host_row(k)] = host(k);
  exchange_->forward(scratch_.data());
  for (int k = particles.nlocal; k < particles.total(); ++k) host(k) = scratch_[host_row(k)];
  Kokkos::deep_copy(per_atom, host);
}

template <int W>
void HostAtoms::reverse(View<double* [W]> per_atom) {
  const auto host = Kokkos::create_mirror_view(per_atom);
  Kokkos::deep_copy(host, per_atom);
  scratch_.assign(static_cast<std::size_t>(host_rows_) * W, 0.0);
  for (int k = 0; k < particles.total(); ++k)
    for (int c = 0; c < W; ++c) scratch_[static_cast<std::size_t>(host_row(k)) * W + c] = host(k, c);
  exchange_->reverse(scratch_.data(), W);
  for (int k = 0; k < particles.nlocal; ++k)
    for (int c = 0; c < W; ++c) host(k, c) = scratch_[static_cast<std::size_t>(host_row(k)) * W + c];
  Kokkos::deep_copy(per_atom, host);
}

void HostAtoms::reverse_add(View<double* [3]> per_atom) { reverse<3>(per_atom); }
void HostAtoms::reverse_add(View<double* [9]> per_atom) { reverse<9>(per_atom); }

}  // namespace cambium::lammps
