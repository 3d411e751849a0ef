#include "core/io/fields/vtk_xml.hpp"

#include <fmt/format.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "core/base/error.hpp"
#include "core/io/fields/grid_mesh.hpp"
#include "core/io/fields/vtkhdf.hpp"
#include "core/io/hdf5/atomic_file.hpp"

namespace cambium::io {
namespace {

namespace fs = std::filesystem;

/// Arrays appended to the XML, each preceded by its length, and the elements that name them.
class Arrays {
 public:
  explicit Arrays(bool single) : single_(single) {}

  template <class T>
  std::string add(const char* type, const std::string& name, std::span<const T> values, int components = 1) {
    const auto raw = std::as_bytes(values);
    const auto at = bytes_.size();
    const std::uint64_t length = raw.size();
    bytes_.append(reinterpret_cast<const char*>(&length), sizeof length);
    bytes_.append(reinterpret_cast<const char*>(raw.data()), raw.size());
    return fmt::format(
        "<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"appended\" offset=\"{}\"/>\n", type,
        escaped(name), components, at);
  }
  /// Values in the precision of the series.
  std::string real(const std::string& name, std::span<const double> values, int components = 1) {
    if (!single_) return add("Float64", name, values, components);
    const std::vector<float> narrow(values.begin(), values.end());
    return add("Float32", name, std::span<const float>(narrow), components);
  }
  /// Complete file around a data set.
  std::string file(const std::string& type, const std::string& data_set) const {
    constexpr bool little = std::endian::native == std::endian::little;
    return fmt::format(
               "<?xml version=\"1.0\"?>\n<VTKFile type=\"{}\" version=\"1.0\" byte_order=\"{}\" "
               "header_type=\"UInt64\">\n{}<AppendedData encoding=\"raw\">\n_",
               type, little ? "LittleEndian" : "BigEndian", data_set) +
           bytes_ + "\n</AppendedData>\n</VTKFile>\n";
  }

 private:
  static std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '"' ? "&quot;" : std::string(1, c);
    return out;
  }

  bool single_;
  std::string bytes_;
};

template <class Fields>
std::string fields_of(Arrays& arrays, const Fields& fields) {
  std::string out;
  for (const auto& field : fields) out += arrays.real(field.name, field.values, field.components);
  return out;
}

std::string image_of(Arrays& arrays, const GridFields& grid) {
  std::string extent, origin, spacing;
  for (std::size_t d = 0; d < 3; ++d) {
    const bool there = d < grid.axes.size();
    const auto cells = there ? grid.axes[d].cells() : 0;
    const double first = there ? grid.axes[d].faces.front() : 0.0,
                 width = there ? (grid.axes[d].faces.back() - first) / static_cast<double>(cells) : 1.0;
    extent += fmt::format("{}0 {}", d ? " " : "", cells);
    origin += fmt::format("{}{}", d ? " " : "", first);
    spacing += fmt::format("{}{}", d ? " " : "", width);
  }
  return fmt::format(
      "<ImageData WholeExtent=\"{0}\" Origin=\"{1}\" Spacing=\"{2}\">\n<Piece Extent=\"{0}\">\n"
      "<CellData>\n{3}</CellData>\n</Piece>\n</ImageData>\n",
      extent, origin, spacing, fields_of(arrays, grid.fields));
}

/// Cells of one type on points; `ends` is where in the connectivity each cell ends.
std::string mesh_of(Arrays& arrays, std::span<const double> place, std::span<const std::int64_t> connectivity,
                    std::span<const std::int64_t> ends, std::uint8_t type, const std::string& data) {
  const std::vector<std::uint8_t> types(ends.size(), type);
  const auto points = arrays.real("Points", place, 3);
  auto cells = arrays.add("Int64", "connectivity", connectivity);
  cells += arrays.add("Int64", "offsets", ends);
  cells += arrays.add("UInt8", "types", std::span<const std::uint8_t>(types));
  return fmt::format(
      "<UnstructuredGrid>\n<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n{}<Points>\n{}</Points>\n"
      "<Cells>\n{}</Cells>\n</Piece>\n</UnstructuredGrid>\n",
      place.size() / 3, ends.size(), data, points, cells);
}

constexpr const char* footer = "</Collection>\n</VTKFile>\n";

}  // namespace

VtkXmlSeries::VtkXmlSeries(std::string path, bool single, std::span<const Moment> kept)
    : path_(std::move(path)), single_(single) {
  file_.reset(std::fopen(path_.c_str(), "wb"));
  if (!file_) refuse_write(path_, std::strerror(errno));
  const std::string head =
      fmt::format("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n<Collection>\n{}", footer);
  if (std::fwrite(head.data(), 1, head.size(), file_.get()) != head.size() || std::fflush(file_.get()) != 0)
    refuse_write(path_, std::strerror(errno));
  for (const auto& moment : kept)
    for (const char* suffix : {"vti", "vtu"})
      if (fs::exists(fs::path(path_).replace_filename(name_of(moment, suffix)))) list(moment, name_of(moment, suffix));
}

std::string VtkXmlSeries::name_of(const Moment& moment, const char* suffix) const {
  return fmt::format("{}.{}.{}", fs::path(path_).stem().string(), moment.step, suffix);
}

/// The entry overwrites the footer, which is written again after it in the same call: a concurrent reader sees a
/// complete list.
void VtkXmlSeries::list(const Moment& moment, const std::string& name) {
  const std::string entry =
      fmt::format("<DataSet timestep=\"{}\" part=\"0\" file=\"{}\"/>\n{}", moment.time, name, footer);
  if (std::fseek(file_.get(), -static_cast<long>(std::strlen(footer)), SEEK_END) != 0 ||
      std::fwrite(entry.data(), 1, entry.size(), file_.get()) != entry.size() || std::fflush(file_.get()) != 0)
    refuse_write(path_, std::strerror(errno));
}

void VtkXmlSeries::write(const Moment& moment, const char* suffix, const std::string& text) {
  const auto name = name_of(moment, suffix);
  write_file_atomically(fs::path(path_).replace_filename(name).string(), text);
  list(moment, name);
}

void VtkXmlSeries::append(const GridFields& grid, const Moment& moment) {
  Arrays arrays(single_);
  if (evenly_spaced(grid)) {
    const auto data_set = image_of(arrays, grid);
    return write(moment, "vti", arrays.file("ImageData", data_set));
  }
  const GridMesh mesh = mesh_of_grid(grid);
  const auto data = fmt::format("<CellData>\n{}</CellData>\n", fields_of(arrays, grid.fields));
  const auto data_set =
      mesh_of(arrays, mesh.place, mesh.connectivity, std::span(mesh.offsets).subspan(1), mesh.type, data);
  write(moment, "vtu", arrays.file("UnstructuredGrid", data_set));
}

void VtkXmlSeries::append(const NodeFields& nodes, const Moment& moment) {
  constexpr std::uint8_t line = 3, triangle = 5;  // VTK cell types
  Arrays arrays(single_);
  const NodeCells& cells = *nodes.cells;
  std::vector<double> place;
  for (const auto& point : cells.points) place.insert(place.end(), point.begin(), point.end());
  std::vector<std::int64_t> ends;
  for (std::int64_t k = 1; k <= cells.cells(); ++k) ends.push_back(k * cells.corners);
  const auto data = fmt::format("<PointData>\n{}</PointData>\n", fields_of(arrays, nodes.fields));
  const auto data_set = mesh_of(arrays, place, cells.connectivity, ends, cells.corners == 2 ? line : triangle, data);
  write(moment, "vtu", arrays.file("UnstructuredGrid", data_set));
}

void VtkXmlSeries::append(const Frame& frame) {
  constexpr std::uint8_t vertex = 1;
  Arrays arrays(single_);
  std::vector<std::int64_t> index, ends;
  for (std::int64_t k = 0; k < frame.size(); ++k) {
    index.push_back(k);
    ends.push_back(k + 1);
  }
  std::string data = arrays.add("Int64", "id", std::span<const std::int64_t>(frame.id));
  data += arrays.add("Int32", "type", std::span<const int>(frame.type));
  if (!frame.velocity.empty()) data += arrays.real("velocity", frame.velocity, 3);
  if (!frame.force.empty()) data += arrays.real("force", frame.force, 3);
  const auto data_set =
      mesh_of(arrays, frame.position, index, ends, vertex, fmt::format("<PointData>\n{}</PointData>\n", data));
  write({frame.step, frame.time}, "vtu", arrays.file("UnstructuredGrid", data_set));
}

}  // namespace cambium::io
