// Fields in NetCDF-3 files, through libnetcdf where the build found it.
#include <fmt/format.h>

#include "core/base/error.hpp"
#include "plugins/podlstm/field/field_file.hpp"

#ifdef CAMBIUM_HAVE_NETCDF
#include <netcdf.h>
#endif

namespace cambium::podlstm {

#ifdef CAMBIUM_HAVE_NETCDF
namespace {

class ClassicField : public FieldFile {
 public:
  ClassicField(const std::string& path, const FieldNames& names) : path_(path) {
    require(nc_open(path.c_str(), NC_NOWRITE, &file_), "cannot be opened");
    try {
      look(names);
    } catch (...) {
      nc_close(file_);
      throw;
    }
  }
  ~ClassicField() override { nc_close(file_); }

  std::vector<std::int64_t> shape() const override { return shape_; }
  const std::string& unit() const override { return unit_; }
  const std::vector<double>& times() const override { return times_; }
  const std::string& time_unit() const override { return time_unit_; }
  const std::vector<Axis>& axes() const override { return axes_; }

  void read(std::span<const std::int64_t> start, std::span<const std::int64_t> count, double* out) const override {
    std::vector<std::size_t> from(start.begin(), start.end()), extent(count.begin(), count.end());
    require(nc_get_vara_double(file_, variable_, from.data(), extent.data(), out), "cannot be read");
    std::size_t total = 1;
    for (std::size_t n : extent) total *= n;
    packing_.unpack({out, total});
  }

 private:
  void require(int status, const std::string& what) const {
    if (status != NC_NOERR) throw InputError(fmt::format("'{}' {}: {}", path_, what, nc_strerror(status)));
  }

  void look(const FieldNames& names) {
    require(nc_inq_varid(file_, names.array.c_str(), &variable_), fmt::format("has no variable '{}'", names.array));
    int rank = 0, dimensions[NC_MAX_VAR_DIMS] = {};
    require(nc_inq_var(file_, variable_, nullptr, nullptr, &rank, dimensions, nullptr), "cannot be read");
    if (rank < 2)
      throw InputError(fmt::format("the array '{}' of '{}' has {} dimension(s), expected (time, ...) with at least two",
                                   names.array, path_, rank));
    for (int k = 0; k < rank; ++k) {
      std::size_t length = 0;
      char name[NC_MAX_NAME + 1] = {};
      require(nc_inq_dim(file_, dimensions[k], name, &length), "cannot be read");
      shape_.push_back(static_cast<std::int64_t>(length));
      if (k > 0) axes_.push_back({name, "1", coordinate(name, length, axes_unit_)});
      if (k > 0 && !axes_unit_.empty()) axes_.back().unit = axes_unit_;
    }
    times_ = coordinate(names.time, static_cast<std::size_t>(shape_[0]), time_unit_);
    if (times_.empty() || time_unit_.empty())
      throw InputError(fmt::format("'{}' has no variable '{}' with {} times and their unit: name it (time: NAME)",
                                   path_, names.time, shape_[0]));
    unit_ = text(variable_, "units");
    for (const char* key : {"_FillValue", "missing_value"})
      for (double x : numbers(key)) packing_.missing.push_back(x);
    for (double x : numbers("scale_factor")) packing_.scale = x;
    for (double x : numbers("add_offset")) packing_.offset = x;
  }

  /// The variable of this name when it is one-dimensional of this length, else 0, 1, 2, ... and no unit.
  std::vector<double> coordinate(const std::string& name, std::size_t length, std::string& unit) const {
    std::vector<double> values(length);
    for (std::size_t i = 0; i < length; ++i) values[i] = static_cast<double>(i);
    unit.clear();
    int id = -1, rank = 0, dimension[NC_MAX_VAR_DIMS] = {};
    std::size_t found = 0;
    if (nc_inq_varid(file_, name.c_str(), &id) != NC_NOERR || nc_inq_varndims(file_, id, &rank) != NC_NOERR ||
        rank != 1 || nc_inq_vardimid(file_, id, dimension) != NC_NOERR ||
        nc_inq_dimlen(file_, dimension[0], &found) != NC_NOERR || found != length)
      return values;
    require(nc_get_var_double(file_, id, values.data()), "cannot be read");
    unit = text(id, "units");
    return values;
  }

  std::string text(int variable, const char* key) const {
    std::size_t length = 0;
    nc_type type = NC_NAT;
    if (nc_inq_att(file_, variable, key, &type, &length) != NC_NOERR || type != NC_CHAR) return "";
    std::string out(length, '\0');
    require(nc_get_att_text(file_, variable, key, out.data()), "cannot be read");
    return out;
  }

  std::vector<double> numbers(const char* key) const {
    std::size_t length = 0;
    nc_type type = NC_NAT;
    if (nc_inq_att(file_, variable_, key, &type, &length) != NC_NOERR || type == NC_CHAR) return {};
    std::vector<double> out(length);
    require(nc_get_att_double(file_, variable_, key, out.data()), "cannot be read");
    return out;
  }

  std::string path_, unit_, time_unit_, axes_unit_;
  int file_ = -1, variable_ = -1;
  std::vector<std::int64_t> shape_;
  std::vector<double> times_;
  std::vector<Axis> axes_;
  Packing packing_;
};

}  // namespace

std::unique_ptr<FieldFile> open_classic_field(const std::string& path, const FieldNames& names) {
  return std::make_unique<ClassicField>(path, names);
}
bool reads_classic_netcdf() { return true; }
#else
std::unique_ptr<FieldFile> open_classic_field(const std::string& path, const FieldNames&) {
  throw InputError(
      fmt::format("'{}' is a NetCDF-3 file, which this build cannot read: install libnetcdf (Debian package: "
                  "libnetcdf-dev) and build again, or convert it: nccopy -k nc4 {} field.nc",
                  path, path));
}
bool reads_classic_netcdf() { return false; }
#endif

}  // namespace cambium::podlstm
