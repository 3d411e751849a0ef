#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace cambium::podlstm {

/// An axis of a field other than time.
struct Axis {
  std::string name, unit;
  std::vector<double> values;  ///< 0, 1, 2, ... where the file names no coordinate
};

/// A variable over time in one file: an array (time, axes...). Numbers come with scale_factor and add_offset applied;
/// what the file marks as missing (_FillValue, missing_value) is NaN.
class FieldFile {
 public:
  virtual ~FieldFile() = default;
  virtual std::vector<std::int64_t> shape() const = 0;
  virtual const std::string& unit() const = 0;
  virtual const std::vector<double>& times() const = 0;
  virtual const std::string& time_unit() const = 0;  ///< such as "days since 1800-01-01"
  virtual const std::vector<Axis>& axes() const = 0;
  virtual void read(std::span<const std::int64_t> start, std::span<const std::int64_t> count, double* out) const = 0;
};

/// Names inside a file. A coordinate is looked for beside the array, then at the top.
struct FieldNames {
  std::string array, time = "time";
  std::vector<std::string> axes;  ///< empty: latitude and longitude under their usual names, where they fit
};

/// Opens HDF5 and NetCDF-4 files through HDF5, NetCDF-3 files (classic, 64-bit offset, CDF-5) through libnetcdf,
/// whatever their names. InputError when the file, the array or its times are missing, or libnetcdf is needed and was
/// not found.
std::unique_ptr<FieldFile> open_field_file(const std::string& path, const FieldNames& names);

/// True when NetCDF-3 files can be read.
bool reads_classic_netcdf();

/// Days per unit of "days since ..." and its like; 0 when the unit is no plain time.
double days_per_unit(const std::string& time_unit);

/// What the attributes of an array say about its numbers.
struct Packing {
  double scale = 1.0, offset = 0.0;
  std::vector<double> missing;  ///< stored values that stand for nothing
  /// Stored numbers to physical ones, in place.
  void unpack(std::span<double> values) const;
};

std::unique_ptr<FieldFile> open_hdf5_field(const std::string& path, const FieldNames& names);
std::unique_ptr<FieldFile> open_classic_field(const std::string& path, const FieldNames& names);

}  // namespace cambium::podlstm
