#pragma once
#include <vector>

#include "core/parallel/ghost_exchange.hpp"
#include "core/particles/particles.hpp"

namespace cambium {

/// Features of the nodes of a graph of atoms, in host memory, of type T: one row per atom, owned atoms first; ghosts
/// receive theirs from their owners and return contributions to them. Messages between ranks are in double precision.
template <class T>
class NodeFeatures {
 public:
  /// All values become 0.
  void resize(int rows, int width) {
    width_ = width;
    values_.assign(static_cast<std::size_t>(rows) * static_cast<std::size_t>(width), T(0));
  }
  T* row(int i) { return values_.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(width_); }
  const T* row(int i) const { return values_.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(width_); }
  int width() const { return width_; }
  /// Copies owners' rows to their ghosts. Collective.
  void to_ghosts(const Particles& particles, GhostExchange& ghosts);
  /// Adds ghosts' rows to their owners'. Collective.
  void from_ghosts(const Particles& particles, GhostExchange& ghosts);

 private:
  int width_ = 0;
  std::vector<T> values_;
  View<double*> one_;        ///< a column on its way
  View<double* [3]> three_;  ///< three columns on their way back
};

extern template class NodeFeatures<double>;
extern template class NodeFeatures<float>;

}  // namespace cambium
