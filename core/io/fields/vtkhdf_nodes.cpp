// Fields on the nodes of graphs and triangle meshes as an unstructured grid that stays while the fields change.
#include "core/io/fields/vtkhdf.hpp"

namespace cambium::io {

VtkhdfFile::VtkhdfFile(const std::string& path, const NodeFields& nodes, bool single, const Provenance& provenance,
                       const std::optional<Compression>& compress)
    : file_(File::create(path)), real_(single ? DType::f32 : DType::f64), compress_(compress) {
  begin("UnstructuredGrid", provenance);
  const NodeCells& mesh = *nodes.cells;
  constexpr std::uint8_t line = 3, triangle = 5;  // VTK cell types
  std::vector<double> place;
  for (const auto& point : mesh.points) place.insert(place.end(), point.begin(), point.end());
  std::vector<std::int64_t> offsets;
  for (std::int64_t k = 0; k <= mesh.cells(); ++k) offsets.push_back(k * mesh.corners);
  write_cells(place, mesh.connectivity, offsets, mesh.corners == 2 ? line : triangle);
  for (const auto& field : nodes.fields) {
    make_series("PointData/" + field.name, real_, field.components, std::ssize(mesh.points));
    if (!field.unit.empty()) file_.dataset("/VTKHDF/PointData/" + field.name).set_attribute("unit", field.unit);
  }
}

void VtkhdfFile::append(const NodeFields& now, std::int64_t step, double time) {
  const std::int64_t nodes = std::ssize(now.cells->points);
  require_rows(nodes, rows_of("Points"), "nodes");
  for (const auto& field : now.fields)
    add("PointData/" + field.name, field.components > 1 ? tensor_of(field.values.data(), {nodes, field.components})
                                                        : tensor_of(field.values.data(), {nodes}));
  add_step(step, time);
  if (xml_) xml_->append(now, {step, time});
}

}  // namespace cambium::io
