// Grids of uneven spacing as an unstructured grid: corners, and for each cell the list of its corners.
#include "core/io/fields/grid_mesh.hpp"
#include "core/io/fields/vtkhdf.hpp"

namespace cambium::io {

void VtkhdfFile::write_cells(const std::vector<double>& place, const std::vector<std::int64_t>& connectivity,
                             const std::vector<std::int64_t>& offsets, std::uint8_t type) {
  Group head = root();
  const std::int64_t cells = std::ssize(offsets) - 1;
  head.write("NumberOfPoints", std::vector<std::int64_t>{std::ssize(place) / 3});
  head.write("NumberOfCells", std::vector<std::int64_t>{cells});
  head.write("NumberOfConnectivityIds", std::vector<std::int64_t>{std::ssize(connectivity)});
  head.write("Points", tensor_of(place.data(), {std::ssize(place) / 3, 3}));
  head.write("Connectivity", connectivity);
  head.write("Offsets", offsets);
  head.write("Types", std::vector<std::uint8_t>(cells, type));
  for (const char* name : {"PartOffsets", "NumberOfParts", "PointOffsets", "CellOffsets", "ConnectivityIdOffsets"})
    file_.create_series(std::string("/VTKHDF/Steps/") + name, DType::i64, {});
}

void VtkhdfFile::make_mesh(const GridFields& grid) {
  const GridMesh mesh = mesh_of_grid(grid);
  write_cells(mesh.place, mesh.connectivity, mesh.offsets, mesh.type);
  for (const auto& field : grid.fields) make_series("CellData/" + field.name, real_, field.components, grid.cells());
}

}  // namespace cambium::io
