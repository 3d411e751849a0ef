#include "plugins/kinetic/solver/velocity_cells.hpp"

namespace cambium::kinetic {

VelocityCells::VelocityCells(const PhaseGrid& grid) : stretched_(grid.stretched()) {
  if (!stretched_) return;
  std::vector<VelocityCell> cells;
  for (int d = 0; d < grid.vdim; ++d) {
    const Axis& axis = grid.velocity(d);
    first_[d] = cells.size();
    for (int i = axis.first; i < axis.first + axis.count; ++i)
      cells.push_back({axis.centre(i), axis.width(i), 1.0 / axis.width(i)});
  }
  table_ = View<VelocityCell*>("kinetic: velocity cells", cells.size());
  const auto host = Kokkos::create_mirror_view(table_);
  for (std::size_t k = 0; k < cells.size(); ++k) host(k) = cells[k];
  Kokkos::deep_copy(table_, host);
}

Layout VelocityCells::in(Layout layout) const {
  for (int d = 0; d < layout.vdim; ++d) layout.velocities[d] = along(d);
  return layout;
}

}  // namespace cambium::kinetic
