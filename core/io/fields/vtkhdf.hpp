#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/io/fields/vtk_xml.hpp"
#include "core/io/hdf5/compression.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/provenance.hpp"
#include "core/io/structures/frame.hpp"
#include "core/particles/grid_fields.hpp"
#include "core/particles/node_fields.hpp"

namespace cambium::io {

/// Time series as VTKHDF 2.0 (specification in VTK's documentation, "VTKHDF format specification"), for ParaView:
///   /VTKHDF            attributes Version, Type and, for images, WholeExtent, Origin, Spacing, Direction
///     Steps            NSteps, Values (times) and where each array of a step begins
///     CellData         of grids: ImageData (evenly spaced; arrays [step][z][y][x]) or UnstructuredGrid (lines,
///     quadrilaterals
///                      or hexahedra between any faces; arrays [step * cells])
///     Points, Connectivity, PointData  of meshes and graphs: UnstructuredGrid of triangles or lines that stay where
///                      they are, arrays [step * points]
///     Points,PointData of particles: PolyData with one vertex each, arrays [step * particles]
///   /step              step numbers; /cambium: provenance
/// A single frame of an image is shown only once there is a second one: readers take NSteps = 1 for no series.
/// One rank owns the file.
class VtkhdfFile {
 public:
  /// Creates a file without frames, for fields on this grid or for these particles.
  VtkhdfFile(const std::string& path, const GridFields& grid, bool single_precision, const Provenance& provenance,
             const std::optional<Compression>& compress = {});
  VtkhdfFile(const std::string& path, const Frame& frame, bool single_precision, const Provenance& provenance,
             const std::optional<Compression>& compress = {});
  VtkhdfFile(const std::string& path, const NodeFields& nodes, bool single_precision, const Provenance& provenance,
             const std::optional<Compression>& compress = {});
  /// Opens an existing file and drops its frames after `last_step`.
  VtkhdfFile(const std::string& path, std::int64_t last_step);

  /// Appends a frame; it has reached the operating system on return. InputError if it is of another grid or of other
  /// particles.
  void append(const GridFields& fields, std::int64_t step, double time);
  void append(const Frame& frame);
  void append(const NodeFields& fields, std::int64_t step, double time);
  /// Writes every frame from now on in VTK's XML formats, too, next to the file as NAME.pvd (VtkXmlSeries).
  void also_xml();
  /// How much smaller the arrays that change with time are stored, for the log.
  std::string stored_line(const std::string& shown) const;
  /// Time of the last frame; `none` if there is none.
  double last_time(double none) const;

 private:
  Group root() const { return file_.group("/VTKHDF"); }
  void begin(const char* type, const Provenance& provenance);
  void make_image(const GridFields& grid);
  void make_mesh(const GridFields& grid);
  /// Fixed corners and cells: place [point][3].
  void write_cells(const std::vector<double>& place, const std::vector<std::int64_t>& connectivity,
                   const std::vector<std::int64_t>& offsets, std::uint8_t type);
  void make_series(const std::string& name, DType type, int components, std::int64_t rows);
  void add(const std::string& name, const TensorRef& rows);
  void add_step(std::int64_t step, double time);
  std::int64_t steps() const { return file_.dataset("/step").shape().at(0); }
  std::int64_t rows_of(const std::string& name) const;  ///< of an array, per frame
  std::int64_t cells() const;
  void require_rows(std::int64_t found, std::int64_t expected, const char* what) const;

  File file_;
  DType real_ = DType::f64;
  std::optional<Compression> compress_;  ///< of a new file's arrays
  std::unique_ptr<VtkXmlSeries> xml_;    ///< if requested
};

/// One line for the log: programs that read the file, and the format for older ones.
std::string vtkhdf_readers(const std::string& file);

/// True for a grid whose cells have one size along each axis, to 1e-9 of it.
bool evenly_spaced(const GridFields& grid);

}  // namespace cambium::io
