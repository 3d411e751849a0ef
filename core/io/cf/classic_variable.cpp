// Variables of NetCDF-3 files, through libnetcdf if the build has it.
#include <fmt/format.h>

#include <filesystem>

#include "core/base/error.hpp"
#include "core/io/cf/classic_ends.hpp"
#include "core/io/cf/variable.hpp"
#include "core/io/utf8.hpp"

#ifdef CAMBIUM_HAVE_NETCDF
#include <netcdf.h>
#endif

namespace cambium::io::cf {

#ifdef CAMBIUM_HAVE_NETCDF
namespace {

std::optional<Stored> stored_as_netcdf(nc_type type) {
  switch (type) {
    case NC_BYTE:
      return Stored::i8;
    case NC_UBYTE:
      return Stored::u8;
    case NC_SHORT:
      return Stored::i16;
    case NC_USHORT:
      return Stored::u16;
    case NC_INT:
      return Stored::i32;
    case NC_UINT:
      return Stored::u32;
    case NC_INT64:
      return Stored::i64;
    case NC_UINT64:
      return Stored::u64;
    case NC_FLOAT:
      return Stored::f32;
    case NC_DOUBLE:
      return Stored::f64;
    default:
      return std::nullopt;
  }
}

/// Open as long as anything that came from it.
struct Open {
  std::string path;
  int id = -1;
  std::vector<std::int64_t> ends;
  explicit Open(const std::string& name) : path(name) {
    require(nc_open(path.c_str(), NC_NOWRITE, &id), "be opened");
    ends = classic_ends(path);
  }
  ~Open() { nc_close(id); }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
  void require(int status, const std::string& what) const {
    if (status != NC_NOERR) throw InputError(fmt::format("'{}' cannot {}: {}", path, what, nc_strerror(status)));
  }
  /// The library returns zeros past the end of a file.
  void require_whole(int variable, const std::string& name) const {
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
    if (variable >= std::ssize(ends) || ends[static_cast<std::size_t>(variable)] <= bytes) return;
    throw InputError(
        fmt::format("'{}' is truncated: '{}' ends at byte {}, the file at {}; copy it again from its source, or "
                    "leave out the records that are missing (ncks -d)",
                    path, name, ends[static_cast<std::size_t>(variable)], bytes));
  }
};

class ClassicVariable : public Variable {
 public:
  ClassicVariable(std::shared_ptr<Open> file, int id) : file_(std::move(file)), id_(id) {
    char name[NC_MAX_NAME + 1] = {};
    int rank = 0, dimensions[NC_MAX_VAR_DIMS] = {};
    require(nc_inq_var(file_->id, id_, name, &type_, &rank, dimensions, nullptr));
    path_ = name;
    for (int k = 0; k < rank; ++k) {
      std::size_t length = 0;
      require(nc_inq_dim(file_->id, dimensions[k], name, &length));
      shape_.push_back(static_cast<std::int64_t>(length));
      dimensions_.emplace_back(name);
    }
  }
  const std::string& path() const override { return path_; }
  std::vector<std::int64_t> shape() const override { return shape_; }
  std::vector<std::string> dimensions() const override { return dimensions_; }
  std::optional<Stored> type() const override { return stored_as_netcdf(type_); }

  std::optional<Attribute> attribute(const std::string& name) const override {
    std::size_t length = 0;
    nc_type type = NC_NAT;
    if (nc_inq_att(file_->id, id_, name.c_str(), &type, &length) != NC_NOERR) return std::nullopt;
    Attribute out;
    if (type == NC_CHAR) {
      out.text.resize(length);
      require(nc_get_att_text(file_->id, id_, name.c_str(), out.text.data()));
      if (const auto end = out.text.find('\0'); end != std::string::npos) out.text.resize(end);
      out.text = utf8(std::move(out.text));
      return out;
    }
    out.type = stored_as_netcdf(type);
    if (!out.type) return std::nullopt;
    out.numbers.resize(length);
    if (*out.type == Stored::u64) {
      std::vector<unsigned long long> numbers(length);
      require(nc_get_att_ulonglong(file_->id, id_, name.c_str(), numbers.data()));
      out.numbers.assign(numbers.begin(), numbers.end());
    } else if (!is_real(*out.type)) {
      std::vector<long long> numbers(length);
      require(nc_get_att_longlong(file_->id, id_, name.c_str(), numbers.data()));
      out.numbers.assign(numbers.begin(), numbers.end());
    } else {
      std::vector<double> numbers(length);
      require(nc_get_att_double(file_->id, id_, name.c_str(), numbers.data()));
      out.numbers.assign(numbers.begin(), numbers.end());
    }
    return out;
  }

  std::optional<long double> default_fill() const override {
    const auto stored = type();
    if (!stored || size_of(*stored) == 1) return std::nullopt;  // every byte means something
    return netcdf_fill(*stored);
  }

  void read(std::span<const std::int64_t> start, std::span<const std::int64_t> count, void* out) const override {
    file_->require_whole(id_, path_);
    const std::vector<std::size_t> from(start.begin(), start.end()), extent(count.begin(), count.end());
    require(nc_get_vara(file_->id, id_, from.data(), extent.data(), out));
  }

 private:
  void require(int status) const { file_->require(status, "be read"); }
  std::shared_ptr<Open> file_;
  int id_;
  nc_type type_ = NC_NAT;
  std::string path_;
  std::vector<std::int64_t> shape_;
  std::vector<std::string> dimensions_;
};

class ClassicContainer : public Container {
 public:
  explicit ClassicContainer(const std::string& path) : file_(std::make_shared<Open>(path)) {}
  const std::string& path() const override { return file_->path; }
  std::vector<std::string> variables(const std::string& group) const override {
    std::vector<std::string> out;
    int n = 0;
    if (!group.empty()) return out;
    file_->require(nc_inq_nvars(file_->id, &n), "be read");
    for (int k = 0; k < n; ++k) {
      char name[NC_MAX_NAME + 1] = {};
      file_->require(nc_inq_varname(file_->id, k, name), "be read");
      out.emplace_back(name);
    }
    return out;
  }
  std::unique_ptr<Variable> variable(const std::string& path) const override {
    int id = -1;
    const std::string name = path.starts_with('/') ? path.substr(1) : path;
    if (nc_inq_varid(file_->id, name.c_str(), &id) != NC_NOERR) return nullptr;
    return std::make_unique<ClassicVariable>(file_, id);
  }

 private:
  std::shared_ptr<Open> file_;
};

}  // namespace

std::unique_ptr<Container> open_classic_container(const std::string& path) {
  return std::make_unique<ClassicContainer>(path);
}
bool reads_classic_netcdf() { return true; }
#else
std::unique_ptr<Container> open_classic_container(const std::string& path) {
  throw InputError(
      fmt::format("'{}' is a NetCDF-3 file, which this build cannot read: install libnetcdf (Debian package: "
                  "libnetcdf-dev) and build again, or convert it: nccopy -k nc4 {} field.nc",
                  path, path));
}
bool reads_classic_netcdf() { return false; }
#endif

}  // namespace cambium::io::cf
