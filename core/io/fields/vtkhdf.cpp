#include "core/io/fields/vtkhdf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>

#include "core/base/error.hpp"

namespace cambium::io {
namespace {

constexpr std::int64_t version[2] = {2, 0};
const std::string top = "/VTKHDF/";

TensorRef shaped(const double* data, const std::vector<std::int64_t>& shape) {
  TensorRef t = tensor_of(data, {});
  t.rank = static_cast<int>(shape.size());
  std::int64_t stride = 1;
  for (int k = t.rank - 1; k >= 0; stride *= t.shape[k--]) {
    t.shape[k] = shape[k];
    t.stride[k] = stride;
  }
  return t;
}

/// Path of the offsets: of "CellData/b" "Steps/CellDataOffsets/b"; of "Points" "Steps/PointOffsets".
std::string offsets_of(std::string_view array) {
  if (array == "Points") return top + "Steps/PointOffsets";
  const auto slash = array.find('/');
  return fmt::format("{}Steps/{}Offsets{}", top, array.substr(0, slash), array.substr(slash));
}

/// Arrays that grow with the frames; those of fixed content are contiguous.
std::vector<std::string> growing(const File& file) {
  std::vector<std::string> names;
  if (file.exists(top + "Points") && !file.dataset(top + "Points").chunk().empty()) names.push_back("Points");
  for (const std::string part : {"CellData", "PointData", "FieldData"}) {
    if (!file.is_group(top + part)) continue;
    for (const auto& name : file.group(top + part).list())
      if (!file.dataset(top + part + "/" + name).chunk().empty()) names.push_back(part + "/" + name);
  }
  return names;
}

/// Series with one value per frame, under Steps.
std::vector<std::string> step_series(const File& file) {
  std::vector<std::string> names;
  for (const auto& name : file.group(top + "Steps").list()) {
    if (!file.is_group(top + "Steps/" + name)) {
      names.push_back(top + "Steps/" + name);
      continue;
    }
    for (const auto& array : file.group(top + "Steps/" + name).list())
      names.push_back(top + "Steps/" + name + "/" + array);
  }
  return names;
}

}  // namespace

std::string vtkhdf_readers(const std::string& file) {
  return fmt::format(
      "{}: for ParaView 5.12, VTK 9.3 or newer; older ones show it empty or end in it: give the output 'xml: true' for "
      "them",
      file);
}

bool evenly_spaced(const GridFields& grid) {
  for (const auto& axis : grid.axes) {
    const double width = (axis.faces.back() - axis.faces.front()) / static_cast<double>(axis.cells());
    for (std::int64_t k = 0; k < axis.cells(); ++k)
      if (std::abs(axis.faces[k + 1] - axis.faces[k] - width) > 1e-9 * width) return false;
  }
  return true;
}

void VtkhdfFile::begin(const char* type, const Provenance& provenance) {
  Group head = file_.create_group("/VTKHDF");
  head.set_attribute("Version", tensor_of(version, {2}));
  head.set_ascii_attribute("Type", type);
  file_.create_group(top + "Steps").set_attribute("NSteps", std::int64_t{0});
  file_.create_series(top + "Steps/Values", DType::f64, {});
  file_.create_series("/step", DType::i64, {});
  write_provenance(file_, provenance);
}

void VtkhdfFile::make_series(const std::string& name, DType type, int components, std::int64_t rows) {
  std::vector<std::int64_t> row;
  if (components > 1) row.push_back(components);
  // The rows of one frame, each component in its own chunk.
  std::vector<std::int64_t> chunk{rows};
  if (components > 1) chunk.push_back(1);
  if (!compress_ || rows < 1)
    file_.create_series(top + name, type, row, rows);
  else
    create_series(file_, top + name, type, row, compress_, chunk);
  file_.create_series(offsets_of(name), DType::i64, {});
}

void VtkhdfFile::make_image(const GridFields& grid) {
  Group head = root();
  std::int64_t extent[6] = {0, 0, 0, 0, 0, 0};
  double origin[3] = {0, 0, 0}, spacing[3] = {1, 1, 1};
  const double direction[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  std::vector<std::int64_t> shape;
  for (std::size_t k = 0; k < grid.axes.size(); ++k) {
    const auto& axis = grid.axes[k];
    extent[2 * k + 1] = axis.cells();
    origin[k] = axis.faces.front();
    spacing[k] = (axis.faces.back() - axis.faces.front()) / static_cast<double>(axis.cells());
    shape.insert(shape.begin(), axis.cells());
  }
  head.set_attribute("WholeExtent", tensor_of(extent, {6}));
  head.set_attribute("Origin", tensor_of(origin, {3}));
  head.set_attribute("Spacing", tensor_of(spacing, {3}));
  head.set_attribute("Direction", tensor_of(direction, {9}));
  for (const auto& field : grid.fields) {
    auto row = shape, chunk = shape;
    chunk.insert(chunk.begin(), 1);
    if (field.components > 1) row.push_back(field.components), chunk.push_back(1);
    create_series(file_, top + "CellData/" + field.name, real_, row, compress_,
                  compress_ ? chunk : std::vector<std::int64_t>{});
    file_.create_series(offsets_of("CellData/" + field.name), DType::i64, {});
  }
}

VtkhdfFile::VtkhdfFile(const std::string& path, const GridFields& grid, bool single, const Provenance& provenance,
                       const std::optional<Compression>& compress)
    : file_(File::create(path)), real_(single ? DType::f32 : DType::f64), compress_(compress) {
  const bool image = evenly_spaced(grid);
  begin(image ? "ImageData" : "UnstructuredGrid", provenance);
  if (image)
    make_image(grid);
  else
    make_mesh(grid);
  for (const auto& field : grid.fields)
    if (!field.unit.empty()) file_.dataset(top + "CellData/" + field.name).set_attribute("unit", field.unit);
  std::vector<std::string> axes;
  for (const auto& axis : grid.axes) axes.push_back(axis.name);
  file_.set_attribute("axes", axes);
}

VtkhdfFile::VtkhdfFile(const std::string& path, const Frame& frame, bool single, const Provenance& provenance,
                       const std::optional<Compression>& compress)
    : file_(File::create(path)), real_(single ? DType::f32 : DType::f64), compress_(compress) {
  begin("PolyData", provenance);
  const std::int64_t n = frame.size(), four[1] = {4};
  std::vector<std::int64_t> index(n + 1);
  for (std::int64_t i = 0; i <= n; ++i) index[i] = i;
  file_.write(top + "NumberOfPoints", std::vector<std::int64_t>{n});
  for (const std::string part : {"Vertices", "Lines", "Polygons", "Strips"}) {
    const std::int64_t cells = part == "Vertices" ? n : 0;
    file_.write(top + part + "/NumberOfCells", std::vector<std::int64_t>{cells});
    file_.write(top + part + "/NumberOfConnectivityIds", std::vector<std::int64_t>{cells});
    file_.write(top + part + "/Offsets", tensor_of(index.data(), {cells + 1}));
    file_.write(top + part + "/Connectivity", tensor_of(index.data(), {cells}));
  }
  for (const char* name : {"PartOffsets", "NumberOfParts"}) file_.create_series(top + "Steps/" + name, DType::i64, {});
  for (const char* name : {"CellOffsets", "ConnectivityIdOffsets"})
    file_.create_series(top + "Steps/" + name, DType::i64, four);
  make_series("Points", real_, 3, n);
  file_.dataset(top + "Points").set_attribute("unit", "angstrom");
  if (!frame.velocity.empty()) make_series("PointData/velocity", real_, 3, n);
  if (!frame.force.empty()) make_series("PointData/force", real_, 3, n);
  file_.write(top + "PointData/id", frame.id);
  file_.write(top + "PointData/type", frame.type);
  for (const char* name : {"PointData/id", "PointData/type"}) file_.create_series(offsets_of(name), DType::i64, {});
  make_series("FieldData/cell", DType::f64, 9, 1);
  std::vector<std::string> species;
  for (const auto& s : frame.species) species.push_back(s.symbol);
  file_.set_attribute("species", species);
}

VtkhdfFile::VtkhdfFile(const std::string& path, std::int64_t last_step) : file_(File::append(path)) {
  const auto written = file_.read<std::vector<std::int64_t>>("/step");
  const std::int64_t kept = std::upper_bound(written.begin(), written.end(), last_step) - written.begin();
  // Also if nothing follows: a killed program leaves arrays of half a frame.
  for (const auto& name : growing(file_)) file_.dataset(top + name).resize(kept * rows_of(name));
  for (const auto& name : step_series(file_)) file_.dataset(name).resize(kept);
  file_.dataset("/step").resize(kept);
  file_.group(top + "Steps").set_attribute("NSteps", kept);
  file_.flush();
}

std::int64_t VtkhdfFile::rows_of(const std::string& name) const {
  if (!file_.exists(top + "NumberOfPoints") || name.starts_with("FieldData")) return 1;
  return file_
      .read<std::vector<std::int64_t>>(top + (name.starts_with("CellData") ? "NumberOfCells" : "NumberOfPoints"))
      .at(0);
}

void VtkhdfFile::also_xml() {
  const auto step = file_.read<std::vector<std::int64_t>>("/step");
  const auto time = file_.read<std::vector<double>>(top + "Steps/Values");
  std::vector<Moment> kept;
  for (std::size_t k = 0; k < step.size(); ++k) kept.push_back({step[k], time.at(k)});
  // A file begun in one precision keeps it.
  const auto path = std::filesystem::path(file_.file()).replace_extension(".pvd").string();
  xml_ = std::make_unique<VtkXmlSeries>(path, real_ == DType::f32, kept);
}

std::string VtkhdfFile::stored_line(const std::string& shown) const {
  auto names = growing(file_);
  for (auto& name : names) name = top + name;
  return io::stored_line(shown, file_, names);
}

double VtkhdfFile::last_time(double none) const {
  const auto times = file_.read<std::vector<double>>(top + "Steps/Values");
  return times.empty() ? none : times.back();
}

void VtkhdfFile::add(const std::string& name, const TensorRef& rows) {
  Dataset array = file_.dataset(top + name);
  const std::int64_t first = array.shape().at(0);
  file_.dataset(offsets_of(name)).append(tensor_of(&first, {}));
  std::vector<std::int64_t> start(rows.rank, 0);
  start[0] = first;
  array.resize(first + rows.shape[0]);
  array.write_block(start, rows);
}

/// Last write of a frame, so concurrent readers see complete frames only.
void VtkhdfFile::add_step(std::int64_t step, double time) {
  Group steps_group = file_.group(top + "Steps");
  const std::int64_t nothing = 0, one = 1, zeros[4] = {0, 0, 0, 0};
  for (const std::string name : {"PartOffsets", "CellOffsets", "ConnectivityIdOffsets"})
    if (steps_group.exists(name)) {
      Dataset series = steps_group.dataset(name);
      series.append(series.shape().size() == 1 ? tensor_of(&nothing, {}) : tensor_of(zeros, {series.shape()[1]}));
    }
  // The corners of a mesh are fixed; particles have added their own offset.
  if (steps_group.exists("PointOffsets") && steps_group.dataset("PointOffsets").shape()[0] == steps())
    steps_group.dataset("PointOffsets").append(tensor_of(&nothing, {}));
  if (steps_group.exists("NumberOfParts")) steps_group.dataset("NumberOfParts").append(tensor_of(&one, {}));
  steps_group.dataset("Values").append(tensor_of(&time, {}));
  file_.dataset("/step").append(tensor_of(&step, {}));
  steps_group.set_attribute("NSteps", steps());
  file_.flush();
}

void VtkhdfFile::require_rows(std::int64_t found, std::int64_t expected, const char* what) const {
  if (found != expected)
    throw InputError(fmt::format(
        "'{}' holds {} {} per frame but this run has {}: resume with the deck that wrote it, or move the file away",
        file_.file(), expected, what, found));
}

std::int64_t VtkhdfFile::cells() const {
  if (file_.exists(top + "Types")) return rows_of("CellData");
  const auto extent = root().attribute<std::vector<std::int64_t>>("WholeExtent");
  std::int64_t n = 1;
  for (int k = 0; k < 3; ++k) n *= std::max<std::int64_t>(extent[2 * k + 1] - extent[2 * k], 1);
  return n;
}

void VtkhdfFile::append(const GridFields& now, std::int64_t step, double time) {
  require_rows(now.cells(), cells(), "cells");
  const bool image = !file_.exists(top + "Types");
  for (const auto& field : now.fields) {
    std::vector<std::int64_t> shape{1};
    if (image)
      for (const auto& axis : now.axes) shape.insert(shape.begin() + 1, axis.cells());
    else
      shape[0] = now.cells();
    if (field.components > 1) shape.push_back(field.components);
    add("CellData/" + field.name, shaped(field.values.data(), shape));
  }
  add_step(step, time);
  if (xml_) xml_->append(now, {step, time});
}

void VtkhdfFile::append(const Frame& frame) {
  const std::int64_t n = frame.size(), nothing = 0;
  require_rows(n, rows_of("Points"), "particles");
  add("Points", tensor_of(frame.position.data(), {n, 3}));
  if (!frame.velocity.empty()) add("PointData/velocity", tensor_of(frame.velocity.data(), {n, 3}));
  if (!frame.force.empty()) add("PointData/force", tensor_of(frame.force.data(), {n, 3}));
  for (const char* name : {"PointData/id", "PointData/type"})
    file_.dataset(offsets_of(name)).append(tensor_of(&nothing, {}));
  add("FieldData/cell", tensor_of(frame.cell.data(), {1, 9}));
  add_step(frame.step, frame.time);
  if (xml_) xml_->append(frame);
}

}  // namespace cambium::io
