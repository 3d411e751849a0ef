#pragma once
#include <vector>

#include "core/parallel/ghost_exchange.hpp"
#include "core/particles/particles.hpp"

namespace cambium {

/// Values of atoms in host memory, one row each, owned atoms first, which ghosts get from their owners and give back to
/// them.
class AtomRows {
 public:
  /// All values become 0.
  void resize(int rows, int width) {
    width_ = width;
    values_.assign(static_cast<std::size_t>(rows) * static_cast<std::size_t>(width), 0.0);
  }
  double* row(int i) { return values_.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(width_); }
  const double* row(int i) const {
    return values_.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(width_);
  }
  int width() const { return width_; }
  /// Copies owners' rows to their ghosts. Collective.
  void to_ghosts(const Particles& particles, GhostExchange& ghosts);
  /// Adds ghosts' rows to their owners'. Collective.
  void from_ghosts(const Particles& particles, GhostExchange& ghosts);

 private:
  int width_ = 0;
  std::vector<double> values_;
  View<double*> one_;        ///< a column on its way
  View<double* [3]> three_;  ///< three columns on their way back
};

}  // namespace cambium
