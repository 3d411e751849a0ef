#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "plugins/superres/equations/field_file.hpp"

namespace cambium::superres {

/// Fields over time on a tensor-product grid, read from HDF5 in any layout supported by FieldFile.
struct FieldData {
  std::string file;
  std::array<std::vector<double>, 3> axis;  ///< t, x, z
  double period = 0.0;                      ///< along x; 0 where x ends at walls
  std::string ends;                         ///< source of this information: "as the file says"
  std::vector<std::string> names;
  std::vector<std::vector<double>> values;  ///< one array (t, x, z) per name
  std::vector<char> hidden;  ///< (t, x, z): 1 where a mask hides a point, whose values are undefined; else empty

  std::size_t nx() const { return axis[1].size(); }
  std::size_t nz() const { return axis[2].size(); }
  double at(std::size_t field, std::size_t t, std::size_t x, std::size_t z) const {
    return values[field][(t * nx() + x) * nz() + z];
  }
  bool is_hidden(std::size_t t, std::size_t x, std::size_t z) const {
    return !hidden.empty() && hidden[(t * nx() + x) * nz() + z] != 0;
  }
};

/// Times, x and z of a file. InputError if it has no frame, or one of them does not increase.
std::array<std::vector<double>, 3> axes_of(const FieldFile& file, const std::string& path);

/// Reads the last `frames` frames of the named fields. InputError when one is missing, has another shape than its
/// scales, or is not finite (with the position). Points under the file's mask may hold anything; they are filled with
/// values from their surroundings. x is periodic if `periodic`, or else the file, says so. If neither does, x is
/// periodic if points are equally spaced and values at the ends are as close to each other as neighbours are.
/// InputError when `periodic` contradicts the file, or if points of a periodic x are not equally spaced, since its
/// period is unknown then.
FieldData read_fields(const std::string& path, const std::vector<std::string>& names, std::size_t frames,
                      std::optional<bool> periodic);

/// Last frame of fields in three dimensions, whose values are read a few planes at a time. x and y are periodic.
class Volumes {
 public:
  /// InputError for a coordinate that does not increase, and for points along x or y that are not equally spaced.
  explicit Volumes(const std::string& path);
  /// True if the file has fields in three dimensions and `path` names no section of them.
  static bool at(const std::string& path);

  const std::vector<double>& places(int axis) const { return axis_[axis]; }  ///< x, y, z
  double period(int axis) const { return period_[axis]; }                    ///< x, y
  /// Reads planes first..first+count-1 along z of a field, by (x, y, z). InputError as for read_fields().
  std::vector<double> planes(const std::string& name, std::int64_t first, std::int64_t count) const;

 private:
  FieldFile file_;
  std::string path_;
  std::int64_t frames_;
  std::array<std::vector<double>, 3> axis_;
  std::array<double, 2> period_{};
};

/// Text such as "x periodic, as the file says", for the log.
std::string ends_of_x(const FieldData& data);

}  // namespace cambium::superres
