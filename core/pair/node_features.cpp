#include "core/pair/node_features.hpp"

#include <algorithm>

namespace cambium {

template <class T>
void NodeFeatures<T>::to_ghosts(const Particles& particles, GhostExchange& ghosts) {
  if (static_cast<int>(one_.extent(0)) < particles.capacity())
    one_ = View<double*>("node features: column", particles.capacity());
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
void NodeFeatures<T>::from_ghosts(const Particles& particles, GhostExchange& ghosts) {
  if (static_cast<int>(three_.extent(0)) < particles.capacity())
    three_ = View<double* [3]>("node features: columns", particles.capacity());
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

template class NodeFeatures<double>;
template class NodeFeatures<float>;

}  // namespace cambium
