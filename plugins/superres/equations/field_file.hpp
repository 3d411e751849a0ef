#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/io/hdf5/h5.hpp"

namespace cambium::superres {

/// Fields by (t, x, z) in an HDF5 file of one of these layouts:
///   /tasks, /scales: ours and that of Dedalus 2 and 3; a field may be a component of a vector task by (t, 2, x, z).
///   /t0_fields, /t1_fields, /dimensions: The Well (Ohana et al. 2024); scalars by (trajectory, t, x, y), vectors with
///   an additional last axis; "FILE#3" is its trajectory 3, "FILE" the first.
/// A mask hides points: /tasks/mask by (x, z) or (t, x, z), nonzero where hidden; in The Well boundary conditions of
/// the type "wall" whose mask has both axes, that is, bodies. Masks along one axis mark the ends of the domain that are
/// walls; the fields have values there. p, b, u, w are also found as pressure, buoyancy or temperature, and components
/// of u or velocity.
/// Tasks by (t, x, y, z) are fields in three dimensions: "FILE#3" is their section at index 3 along y, from 0. They are
/// read entirely by planes().
class FieldFile {
 public:
  /// InputError for a file of none of these layouts and, unless `whole`, for a three-dimensional one without a section.
  explicit FieldFile(const std::string& path, bool whole = false);
  /// True for a three-dimensional file without a section.
  bool whole() const { return spatial_ && section_ < 0; }
  /// True for a section of a three-dimensional file.
  bool section() const { return section_ >= 0; }

  /// t, x or z (y if so named in the file). InputError if the file does not have it.
  std::vector<double> coordinate(int axis) const;
  std::vector<double> coordinate_y() const;
  /// True if x is periodic, nullopt if the file has no information: the attribute `periodic` of /scales/x (ours), or
  /// the boundary conditions along x of The Well.
  std::optional<bool> periodic() const;
  std::string name_of_axis(int axis) const;
  /// An attribute of the file; nullopt where it has none, or one of another type.
  std::optional<double> number(const std::string& attribute) const;
  std::optional<std::string> text(const std::string& attribute) const;
  /// Reads frames from `first` on of a field whose extents by (t, x, z) are `whole`. InputError when it is missing or
  /// has another shape.
  std::vector<double> read(const std::string& name, const std::array<std::int64_t, 3>& whole, std::int64_t first) const;
  /// For a whole(): reads planes first..first+count-1 along z of a field at frame t, by (x, y, z); `extents` by (t, x,
  /// y, z).
  std::vector<double> planes(const std::string& name, const std::array<std::int64_t, 4>& extents, std::int64_t t,
                             std::int64_t first, std::int64_t count) const;
  /// Masked points, in the layout of `read`: 1 where hidden; empty when the file has no mask or none of its points is
  /// hidden.
  std::vector<char> hidden(const std::array<std::int64_t, 3>& whole, std::int64_t first) const;

 private:
  /// A dataset, or one component of it along axis `component_axis`.
  struct Place {
    std::string path;
    int component_axis = -1;
    std::int64_t component = 0;
  };
  /// A dataset that is nonzero at hidden points.
  struct Mask {
    std::string path;
    bool by_trajectory = false, by_frame = false, z_first = false;
  };
  std::vector<double> read_coordinate(const std::string& name) const;
  Place find(const std::string& name) const;
  /// InputError for another shape; `expected` is that of a scalar.
  void require_shape(const io::Dataset& set, const std::string& name, const std::vector<std::int64_t>& expected) const;
  /// InputError for axes in another order, and for coefficients of Dedalus.
  void require_order(const io::Dataset& set) const;
  std::vector<Mask> masks() const;
  void hide(const Mask& mask, const std::array<std::int64_t, 3>& whole, std::int64_t first,
            std::vector<char>& out) const;
  std::vector<std::string> fields() const;

  io::File file_;
  std::string path_;
  bool well_ = false, spatial_ = false;
  std::int64_t trajectory_ = 0, section_ = -1;  ///< -1: none
};

}  // namespace cambium::superres
