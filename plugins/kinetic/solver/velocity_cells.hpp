#pragma once
#include <array>

#include "core/parallel/kokkos.hpp"
#include "plugins/kinetic/solver/layout.hpp"

namespace cambium::kinetic {

/// The cells of this rank along each velocity dimension, as a table in the memory of kernels, for grids whose cells
/// have different widths. Copies share the table.
class VelocityCells {
 public:
  VelocityCells() = default;
  explicit VelocityCells(const PhaseGrid& grid);

  /// Of velocity dimension d, by local index; null where all cells have the same width.
  const VelocityCell* along(int d) const { return stretched_ ? table_.data() + first_[d] : nullptr; }
  /// The layout with this table.
  Layout in(Layout layout) const;

 private:
  bool stretched_ = false;
  View<VelocityCell*> table_;
  std::array<std::size_t, 3> first_{};
};

}  // namespace cambium::kinetic
