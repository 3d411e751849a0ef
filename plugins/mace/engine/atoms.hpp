#pragma once
#include <vector>

#include "core/parallel/ghost_exchange.hpp"
#include "core/particles/neighbors.hpp"
#include "core/particles/particles.hpp"

namespace cambium::mace {

/// Edges within the cut-off of the owned atoms: from neighbour to atom. Å.
struct Edges {
  std::vector<int> first;      ///< of each owned atom; one more than atoms
  std::vector<int> neighbour;  ///< rows, owned or ghosts
  std::vector<double> length;
  std::vector<double> direction;  ///< of three; from the neighbour to the atom, length 1

  /// In the order of the neighbour list.
  void find(const Particles& particles, const NeighborList& list, double cutoff);
  int begin(int i) const { return first[static_cast<std::size_t>(i)]; }
  int end(int i) const { return first[static_cast<std::size_t>(i) + 1]; }
};

/// Values of atoms in numbers of type T, one row each, which ghosts get from their owners and give back to them.
template <class T>
class NodeRows {
 public:
  /// Zeros.
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

extern template class NodeRows<double>;
extern template class NodeRows<float>;

}  // namespace cambium::mace
