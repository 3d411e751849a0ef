#pragma once
#include "core/parallel/kokkos.hpp"

namespace cambium {

/// Domain decomposition as a many-body kernel needs it. Atom arrays hold the owned atoms first, then ghosts (copies of
/// atoms of other ranks or of periodic images).
class GhostExchange {
 public:
  virtual ~GhostExchange() = default;
  /// Copies one value per atom from owners to their ghosts.
  virtual void forward(View<double*> per_atom) = 0;
  /// Adds the three components of every ghost to its owner (forces) and leaves the ghosts' entries unspecified.
  virtual void reverse_add(View<double* [3]> per_atom) = 0;
  /// The same for nine components (per-atom virials).
  virtual void reverse_add(View<double* [9]> per_atom) = 0;
};

}  // namespace cambium
