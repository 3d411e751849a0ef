#include "core/io/fields/grid_mesh.hpp"

#include <array>

namespace cambium::io {
namespace {

/// VTK cell types and the order of their corners, as steps along (axis 0, axis 1, axis 2).
struct Shape {
  std::uint8_t type;
  std::vector<std::array<int, 3>> corners;
};
const std::array<Shape, 3> shapes{{{3, {{0, 0, 0}, {1, 0, 0}}},                        // line
                                   {9, {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}},  // quadrilateral
                                   {12,
                                    {{0, 0, 0},
                                     {1, 0, 0},
                                     {1, 1, 0},
                                     {0, 1, 0},  // hexahedron
                                     {0, 0, 1},
                                     {1, 0, 1},
                                     {1, 1, 1},
                                     {0, 1, 1}}}}};

/// Calls `visit(i, j, k)` with i the fastest.
template <class F>
void for_each(const std::array<std::int64_t, 3>& n, F visit) {
  for (std::int64_t k = 0; k < n[2]; ++k)
    for (std::int64_t j = 0; j < n[1]; ++j)
      for (std::int64_t i = 0; i < n[0]; ++i) visit(i, j, k);
}

}  // namespace

GridMesh mesh_of_grid(const GridFields& grid) {
  std::array<std::int64_t, 3> cells{1, 1, 1}, points{1, 1, 1};
  for (std::size_t d = 0; d < grid.axes.size(); ++d) {
    cells[d] = grid.axes[d].cells();
    points[d] = cells[d] + 1;
  }
  const Shape& shape = shapes[grid.axes.size() - 1];
  GridMesh mesh;
  mesh.type = shape.type;
  for_each(points, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    const std::int64_t at[3] = {i, j, k};
    for (std::size_t d = 0; d < 3; ++d) mesh.place.push_back(d < grid.axes.size() ? grid.axes[d].faces[at[d]] : 0.0);
  });
  mesh.offsets.push_back(0);
  for_each(cells, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    for (const auto& c : shape.corners)
      mesh.connectivity.push_back(((k + c[2]) * points[1] + j + c[1]) * points[0] + i + c[0]);
    mesh.offsets.push_back(std::ssize(mesh.connectivity));
  });
  return mesh;
}

}  // namespace cambium::io
