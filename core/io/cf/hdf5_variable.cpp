// Variables of HDF5 and NetCDF-4 files: netCDF-4's additions to HDF5 (dimension scales, fills) are read from HDF5
// itself.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/error.hpp"
#include "core/base/recorder.hpp"
#include "core/io/cf/variable.hpp"
#include "core/io/hdf5/h5_internal.hpp"
#include "core/io/utf8.hpp"

namespace cambium::io::cf {
namespace {

using io::detail::checked;
using io::detail::checked_status;
using io::detail::Entered;

std::optional<Stored> stored_as(hid_t type) {
  const auto size = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_ENUM: {
      const Handle base(H5Tget_super(type));
      return stored_as(base.id());
    }
    case H5T_INTEGER: {
      const bool negative = H5Tget_sign(type) != H5T_SGN_NONE;
      if (size == 1) return negative ? Stored::i8 : Stored::u8;
      if (size == 2) return negative ? Stored::i16 : Stored::u16;
      if (size == 4) return negative ? Stored::i32 : Stored::u32;
      if (size == 8) return negative ? Stored::i64 : Stored::u64;
      return std::nullopt;
    }
    case H5T_FLOAT:
      return size <= 4 ? Stored::f32 : Stored::f64;
    default:
      return std::nullopt;
  }
}

hid_t memory_type(Stored type) {
  switch (type) {
    case Stored::i8:
      return H5T_NATIVE_INT8;
    case Stored::u8:
      return H5T_NATIVE_UINT8;
    case Stored::i16:
      return H5T_NATIVE_INT16;
    case Stored::u16:
      return H5T_NATIVE_UINT16;
    case Stored::i32:
      return H5T_NATIVE_INT32;
    case Stored::u32:
      return H5T_NATIVE_UINT32;
    case Stored::i64:
      return H5T_NATIVE_INT64;
    case Stored::u64:
      return H5T_NATIVE_UINT64;
    case Stored::f32:
      return H5T_NATIVE_FLOAT;
    case Stored::f64:
      break;
  }
  return H5T_NATIVE_DOUBLE;
}

/// Exposes the identifier of an object of core/io/hdf5 to this file.
struct Inside : io::Object {
  static hid_t id(const io::Object& object) { return (object.*(&Inside::handle_)).id(); }
};

/// Values of an attribute; integers of an enumeration by their base type.
template <class T>
std::vector<long double> numbers_in(hid_t attribute, hid_t memory, std::size_t n) {
  std::vector<T> values(n);
  if (n > 0 && H5Aread(attribute, memory, values.data()) < 0) return {};
  return {values.begin(), values.end()};
}

bool has_mark(const io::Object& object, const char* name) { return H5Aexists(Inside::id(object), name) > 0; }

/// True if a data set only gives a dimension its length (netCDF-4).
bool is_bare_dimension(const io::Dataset& set) {
  if (!has_mark(set, "NAME")) return false;
  try {
    return set.attribute<std::string>("NAME").starts_with("This is a netCDF dimension but not a netCDF variable");
  } catch (const InputError&) {
    return false;
  }
}

/// The file, and one name for each of its scales, which may have several in the file.
struct Opened {
  io::File file;
  std::map<haddr_t, std::string> scales;

  std::string name_of(hid_t scale) {
#if H5_VERSION_GE(1, 12, 0)
    H5O_info1_t info;
#else
    H5O_info_t info;
#endif
    std::string name(static_cast<std::size_t>(std::max<ssize_t>(H5Iget_name(scale, nullptr, 0), 0)) + 1, '\0');
    H5Iget_name(scale, name.data(), name.size());
    name.pop_back();
    return H5Oget_info1(scale, &info) < 0 ? name : scales.try_emplace(info.addr, name).first->second;
  }
};

/// netCDF-4 stores a variable that has the name of a dimension and is not its coordinate under this prefix.
constexpr const char* non_coordinate = "_nc4_non_coord_";

class Hdf5Variable : public Variable {
 public:
  Hdf5Variable(std::shared_ptr<Opened> file, io::Dataset set, bool netcdf)
      : file_(std::move(file)), set_(std::move(set)), netcdf_(netcdf), path_(set_.path()) {
    while (path_.starts_with('/')) path_.erase(0, 1);
    if (const auto at = path_.find(non_coordinate); at != std::string::npos)
      path_.erase(at, std::string(non_coordinate).size());
    const Entered entered;
    const Handle type(H5Dget_type(id()));
    type_ = stored_as(type.id());
  }
  const std::string& path() const override { return path_; }
  std::vector<std::int64_t> shape() const override { return set_.shape(); }
  std::optional<Stored> type() const override { return type_; }
  std::vector<std::int64_t> chunk() const override { return set_.chunk(); }

  std::vector<std::string> dimensions() const override {
    const Entered entered;
    const auto rank = set_.shape().size();
    std::vector<std::string> out(rank);
    if (rank == 1 && has_mark(set_, "CLASS")) return {file_->name_of(id())};  // the scale of its own dimension
    if (!has_mark(set_, "DIMENSION_LIST")) return out;
    const Handle list(H5Aopen(id(), "DIMENSION_LIST", H5P_DEFAULT)), space(H5Aget_space(list.id()));
    if (H5Sget_simple_extent_npoints(space.id()) != static_cast<hssize_t>(rank)) return out;
    std::vector<hvl_t> rows(rank);
    const Handle type(H5Tvlen_create(H5T_STD_REF_OBJ));
    if (H5Aread(list.id(), type.id(), rows.data()) < 0) return out;
    for (std::size_t k = 0; k < rank; ++k)
      if (rows[k].len > 0) out[k] = name_of(*static_cast<const hobj_ref_t*>(rows[k].p));
    H5Dvlen_reclaim(type.id(), space.id(), H5P_DEFAULT, rows.data());
    return out;
  }

  std::optional<Attribute> attribute(const std::string& name) const override {
    const Entered entered;
    if (!has_mark(set_, name.c_str())) return std::nullopt;
    const Handle found(H5Aopen(id(), name.c_str(), H5P_DEFAULT)), type(H5Aget_type(found.id())),
        space(H5Aget_space(found.id()));
    Attribute out;
    if (H5Tget_class(type.id()) == H5T_STRING) {
      const auto words = set_.attribute<std::vector<std::string>>(name);
      for (const auto& word : words) out.text += (out.text.empty() ? "" : " ") + word;
      out.text = utf8(std::move(out.text));
      return out;
    }
    out.type = stored_as(type.id());
    if (!out.type) return std::nullopt;
    const auto n = static_cast<std::size_t>(std::max<hssize_t>(H5Sget_simple_extent_npoints(space.id()), 0));
    if (is_real(*out.type))
      out.numbers = numbers_in<double>(found.id(), H5T_NATIVE_DOUBLE, n);
    else if (*out.type == Stored::u64)
      out.numbers = numbers_in<std::uint64_t>(found.id(), H5T_NATIVE_UINT64, n);
    else
      out.numbers = numbers_in<std::int64_t>(found.id(), H5T_NATIVE_INT64, n);
    return out;
  }

  std::optional<long double> default_fill() const override {
    const Entered entered;
    if (!type_ || size_of(*type_) == 1) return std::nullopt;  // every byte means something
    const Handle properties(H5Dget_create_plist(id()));
    H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
    H5D_fill_time_t when = H5D_FILL_TIME_IFSET;
    H5Pget_fill_time(properties.id(), &when);
    if (when == H5D_FILL_TIME_NEVER) return std::nullopt;
    double fill = 0.0;
    if (H5Pfill_value_defined(properties.id(), &defined) >= 0 && defined == H5D_FILL_VALUE_USER_DEFINED &&
        H5Pget_fill_value(properties.id(), H5T_NATIVE_DOUBLE, &fill) >= 0 && fill != 0.0 &&
        static_cast<long double>(fill) != static_cast<long double>(static_cast<double>(netcdf_fill(*type_))))
      return fill;
    H5Eclear2(H5E_DEFAULT);
    if (netcdf_ || is_real(*type_)) return netcdf_fill(*type_);
    return std::nullopt;
  }

  void read(std::span<const std::int64_t> start, std::span<const std::int64_t> count, void* out) const override {
    std::int64_t n = 1;
    for (const auto extent : count) n *= extent;
    if (n == 0) return;
    const Region region("HDF5: read", WorkKind::files,
                        {.bytes = static_cast<double>(n) * static_cast<double>(size_of(*type_))});
    const Entered entered;
    const std::vector<hsize_t> from(start.begin(), start.end()), extent(count.begin(), count.end());
    const Handle there(H5Dget_space(id()));
    if (!extent.empty()) H5Sselect_hyperslab(there.id(), H5S_SELECT_SET, from.data(), nullptr, extent.data(), nullptr);
    const hsize_t all = static_cast<hsize_t>(n);
    // For the same shape as the block: for another one HDF5 copies number by number.
    const Handle here(extent.empty() ? H5Screate(H5S_SCALAR)
                                     : H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr)),
        kept(H5Dget_type(id()));
    if (H5Tget_class(kept.id()) == H5T_ENUM) {
      read_enumeration(kept, here, there, all, out);
      return;
    }
    checked_status(H5Dread(id(), memory_type(*type_), here.id(), there.id(), H5P_DEFAULT, out), "read", set_.file(),
                   set_.path());
  }

 private:
  hid_t id() const { return Inside::id(set_); }

  /// HDF5 does not convert enumerations to numeric types: their values are read in the native type.
  void read_enumeration(const Handle& kept, const Handle& here, const Handle& there, hsize_t n, void* out) const {
    const Handle native(H5Tget_native_type(kept.id(), H5T_DIR_ASCEND)), base(H5Tget_super(native.id()));
    checked_status(H5Dread(id(), native.id(), here.id(), there.id(), H5P_DEFAULT, out), "read", set_.file(),
                   set_.path());
    H5Tconvert(base.id(), memory_type(*type_), n, out, nullptr, H5P_DEFAULT);
  }

  std::string name_of(hobj_ref_t reference) const {
    const hid_t object = H5Rdereference2(id(), H5P_DEFAULT, H5R_OBJECT, &reference);
    if (object < 0) return H5Eclear2(H5E_DEFAULT), "";
    const Handle scale(object);
    return file_->name_of(object);
  }

  std::shared_ptr<Opened> file_;
  io::Dataset set_;
  bool netcdf_;
  std::string path_;
  std::optional<Stored> type_;
};

class Hdf5Container : public Container {
 public:
  explicit Hdf5Container(const std::string& path)
      : path_(path), file_(std::make_shared<Opened>(Opened{io::File::open(path), {}})) {
    const Entered entered;
    netcdf_ = has_mark(file_->file, "_NCProperties") || has_mark(file_->file, "_nc3_strict") ||
              has_mark(file_->file, "Conventions");
  }
  const std::string& path() const override { return path_; }

  std::vector<std::string> variables(const std::string& group) const override {
    const io::Group from = group.empty() ? io::Group(file_->file) : file_->file.group(group);
    std::vector<std::string> out;
    for (const auto& name : from.list()) {
      const std::string place = group.empty() ? name : group + "/" + name;
      if (!file_->file.is_group(place) && is_array(place)) out.push_back(place);
    }
    return out;
  }

  std::vector<std::string> groups() const override {
    std::vector<std::string> out;
    add_groups("", out);
    return out;
  }

  std::unique_ptr<Variable> variable(const std::string& path) const override {
    const auto slash = path.rfind('/');
    const std::string hidden = slash == std::string::npos
                                   ? non_coordinate + path
                                   : path.substr(0, slash + 1) + non_coordinate + path.substr(slash + 1);
    for (const auto& place : {path, hidden})
      if (!place.empty() && file_->file.exists(place) && !file_->file.is_group(place)) {
        auto set = file_->file.dataset(place);
        if (!is_bare_dimension(set)) return std::make_unique<Hdf5Variable>(file_, std::move(set), netcdf_);
      }
    return nullptr;
  }

 private:
  /// Down to a depth that no file of fields exceeds: links may lead in circles.
  void add_groups(const std::string& group, std::vector<std::string>& out, int deeper = 4) const {
    const io::Group from = group.empty() ? io::Group(file_->file) : file_->file.group(group);
    for (const auto& name : from.list()) {
      const std::string place = group.empty() ? name : group + "/" + name;
      if (!file_->file.is_group(place)) continue;
      out.push_back(place);
      if (deeper > 0) add_groups(place, out, deeper - 1);
    }
  }

  bool is_array(const std::string& place) const {
    try {
      return !is_bare_dimension(file_->file.dataset(place));
    } catch (const InputError&) {
      return false;  // a named type, or a link that leads nowhere
    }
  }
  std::string path_;
  std::shared_ptr<Opened> file_;
  bool netcdf_ = false;
};

}  // namespace

std::unique_ptr<Container> open_hdf5_container(const std::string& path) {
  return std::make_unique<Hdf5Container>(path);
}

}  // namespace cambium::io::cf
