#pragma once
#include <cstdint>
#include <vector>

#include "core/particles/grid_fields.hpp"

namespace cambium::io {

/// The cells of a rectangular grid as an unstructured one, in VTK's terms.
struct GridMesh {
  std::uint8_t type = 0;                   ///< of every cell: line, quadrilateral or hexahedron
  std::vector<double> place;               ///< [corner][3]
  std::vector<std::int64_t> connectivity;  ///< [cell][its corners]
  std::vector<std::int64_t> offsets;       ///< where in `connectivity` each cell begins; the end of the last one
};

/// Cells in the order of the grid's values, evenly spaced or not.
GridMesh mesh_of_grid(const GridFields& grid);

}  // namespace cambium::io
