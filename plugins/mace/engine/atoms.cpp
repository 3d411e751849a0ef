#include "plugins/mace/engine/atoms.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::mace {

void Edges::find(const Particles& particles, const NeighborList& list, double cutoff) {
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles.x);
  const auto offset = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.offset);
  const auto count = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.count);
  const auto index = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.index);
  first.assign(1, 0);
  neighbour.clear();
  length.clear();
  direction.clear();
  for (int i = 0; i < particles.nlocal; ++i) {
    for (int k = 0; k < count(i); ++k) {
      const int j = index(offset(i) + k);
      const double d[3] = {x(i, 0) - x(j, 0), x(i, 1) - x(j, 1), x(i, 2) - x(j, 2)};
      const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
      if (!(r < cutoff)) continue;
      neighbour.push_back(j);
      length.push_back(r);
      for (const double component : d) direction.push_back(component / r);
    }
    first.push_back(static_cast<int>(neighbour.size()));
  }
}

template <class T>
void NodeRows<T>::to_ghosts(const Particles& particles, GhostExchange& ghosts) {
  if (static_cast<int>(one_.extent(0)) < particles.capacity())
    one_ = View<double*>("mace: column", particles.capacity());
  const auto host = Kokkos::create_mirror_view(one_);
  for (int c = 0; c < width_; ++c) {
    for (int i = 0; i < particles.nlocal; ++i) host(i) = row(i)[c];
    Kokkos::deep_copy(one_, host);
    ghosts.forward(one_);
    Kokkos::deep_copy(host, one_);
    for (int i = particles.nlocal; i < particles.total(); ++i) row(i)[c] = static_cast<T>(host(i));
  }
}

template <class T>
void NodeRows<T>::from_ghosts(const Particles& particles, GhostExchange& ghosts) {
  if (static_cast<int>(three_.extent(0)) < particles.capacity())
    three_ = View<double* [3]>("mace: columns", particles.capacity());
  const auto host = Kokkos::create_mirror_view(three_);
  for (int c = 0; c < width_; c += 3) {
    const int columns = std::min(3, width_ - c);
    for (int i = 0; i < particles.total(); ++i)
      for (int k = 0; k < 3; ++k) host(i, k) = k < columns ? static_cast<double>(row(i)[c + k]) : 0.0;
    Kokkos::deep_copy(three_, host);
    ghosts.reverse_add(three_);
    Kokkos::deep_copy(host, three_);
    for (int i = 0; i < particles.nlocal; ++i)
      for (int k = 0; k < columns; ++k) row(i)[c + k] = static_cast<T>(host(i, k));
  }
}

template class NodeRows<double>;
template class NodeRows<float>;

}  // namespace cambium::mace
