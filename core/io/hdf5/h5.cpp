#include "core/io/hdf5/h5.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/base/error.hpp"
#include "core/io/hdf5/filter.hpp"
#include "core/io/hdf5/h5_internal.hpp"
#include "core/io/hdf5/h5_parts.hpp"

namespace cambium::io {

using namespace detail;

namespace {
std::string listed(const std::vector<std::string>& names) {
  return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
}
}  // namespace

// ---- attributes

bool Object::has_attribute(const std::string& name) const {
  const Entered entered;
  return H5Aexists(handle_.id(), name.c_str()) > 0;
}

std::vector<std::string> Object::attributes() const {
  const Entered entered;
  std::vector<std::string> names;
  auto collect = [](hid_t, const char* name, const H5A_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->push_back(name);
    return 0;
  };
  hsize_t position = 0;
  checked_status(H5Aiterate2(handle_.id(), H5_INDEX_NAME, H5_ITER_INC, &position, collect, &names),
                 "list the attributes of", file_, path_);
  return names;
}

detail::Place Object::attribute_place(const std::string& name) const {
  const Entered entered;
  if (!has_attribute(name))
    throw InputError(
        fmt::format("'{}' in '{}' has no attribute '{}'; it has: {}", path_, file_, name, listed(attributes())));
  const std::string path = path_ + "@" + name;
  return {checked(H5Aopen(handle_.id(), name.c_str(), H5P_DEFAULT), "open the attribute", file_, path), file_, path,
          true};
}

void Object::write_attribute(const std::string& name, Handle type, Handle space, const void* data) {
  const Entered entered;
  const std::string path = path_ + "@" + name;
  if (has_attribute(name)) checked_status(H5Adelete(handle_.id(), name.c_str()), "replace the attribute", file_, path);
  const Handle attribute =
      checked(H5Acreate2(handle_.id(), name.c_str(), type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT),
              "make the attribute", file_, path);
  checked_status(H5Awrite(attribute.id(), type.id(), data), "write the attribute", file_, path);
}

void Object::set_attribute(const std::string& name, const std::string& text) {
  const Entered entered;
  const char* pointer = text.c_str();
  write_attribute(name, text_type(), scalar_space(), &pointer);
}

void Object::set_attribute(const std::string& name, const std::vector<std::string>& texts) {
  const Entered entered;
  std::vector<const char*> pointers;
  pointers.reserve(texts.size() + 1);  // HDF5 requires a valid address of an empty list, too
  for (const auto& text : texts) pointers.push_back(text.c_str());
  const hsize_t extent = pointers.size();
  write_attribute(name, text_type(), Handle(H5Screate_simple(1, &extent, nullptr)), pointers.data());
}

void Object::set_attribute(const std::string& name, const TensorRef& values) {
  const Entered entered;
  if (values.rank > 1)
    throw InternalError(
        fmt::format("attribute '{}' of '{}' in '{}' has {} dimensions: netCDF opens no file with an attribute of more "
                    "than one",
                    name, path_, file_, values.rank));
  write_attribute(name, type_of(values.dtype), space_of(values), Packed(values).data());
}

namespace {
/// Texts in fields of equal size, zero-padded, and their HDF5 type.
std::pair<Handle, std::vector<char>> ascii(const std::vector<std::string>& texts) {
  std::size_t room = 1;
  for (const auto& text : texts) room = std::max(room, text.size());
  std::vector<char> characters(room * texts.size(), '\0');
  for (std::size_t k = 0; k < texts.size(); ++k)
    std::copy(texts[k].begin(), texts[k].end(), characters.begin() + k * room);
  Handle type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.id(), room);
  H5Tset_strpad(type.id(), H5T_STR_NULLPAD);
  return {type, characters};
}
}  // namespace

void Object::set_ascii_attribute(const std::string& name, const std::string& text) {
  const Entered entered;
  const auto [type, characters] = ascii({text});
  write_attribute(name, type, scalar_space(), characters.data());
}

void Object::set_ascii_attribute(const std::string& name, const std::vector<std::string>& texts) {
  const Entered entered;
  const auto [type, characters] = ascii(texts);
  const hsize_t extent = texts.size();
  write_attribute(name, type, Handle(H5Screate_simple(1, &extent, nullptr)), characters.data());
}

// ---- groups

std::string Group::absolute(const std::string& name) const {
  if (!name.empty() && name.front() == '/') return name;
  return path_ == "/" ? "/" + name : path_ + "/" + name;
}

/// H5Lexists requires every group on the way to exist.
bool Group::exists(const std::string& name) const {
  const Entered entered;
  const std::string path = absolute(name);
  for (std::size_t end = 1; end != std::string::npos && end < path.size();) {
    end = path.find('/', end + 1);
    const std::string part = path.substr(0, end);
    if (H5Lexists(handle_.id(), part.c_str(), H5P_DEFAULT) <= 0) return false;
    if (H5Oexists_by_name(handle_.id(), part.c_str(), H5P_DEFAULT) <= 0) return false;
  }
  return true;
}

bool Group::is_group(const std::string& name) const {
  const Entered entered;
  if (!exists(name)) return false;
  const Handle object(H5Oopen(handle_.id(), absolute(name).c_str(), H5P_DEFAULT));
  return H5Iget_type(object.id()) == H5I_GROUP;
}

std::vector<std::string> Group::list() const {
  const Entered entered;
  std::vector<std::string> names;
  auto collect = [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->push_back(name);
    return 0;
  };
  hsize_t position = 0;
  checked_status(H5Literate(handle_.id(), H5_INDEX_NAME, H5_ITER_INC, &position, collect, &names), "list", file_,
                 path_);
  return names;
}

Group Group::group(const std::string& name) const {
  const Entered entered;
  const std::string path = absolute(name);
  if (!exists(name))
    throw InputError(fmt::format("'{}' has no group '{}'; '{}' holds: {}", file_, path, path_, listed(list())));
  return Group(checked(H5Gopen2(handle_.id(), path.c_str(), H5P_DEFAULT), "open the group", file_, path), file_, path);
}

Group Group::create_group(const std::string& name) {
  const Entered entered;
  if (exists(name)) return group(name);
  const std::string path = absolute(name);
  const Handle links(H5Pcreate(H5P_LINK_CREATE));
  H5Pset_create_intermediate_group(links.id(), 1);
  return Group(checked(H5Gcreate2(handle_.id(), path.c_str(), links.id(), H5P_DEFAULT, H5P_DEFAULT), "make the group",
                       file_, path),
               file_, path);
}

void Group::remove(const std::string& name) {
  const Entered entered;
  checked_status(H5Ldelete(handle_.id(), absolute(name).c_str(), H5P_DEFAULT), "remove", file_, absolute(name));
}

/// Access properties for a data set whose chunks are encoded and larger than the library's chunk cache (1 MiB), where
/// each access to a part of one would decode all of it again. None for others, and for chunks of more than 1 GiB.
static Handle room_for_a_chunk(const Handle& set) {
  constexpr double kept = 1 << 20, most = 1 << 30;
  const Handle properties(H5Dget_create_plist(set.id())), type(H5Dget_type(set.id()));
  if (H5Pget_layout(properties.id()) != H5D_CHUNKED || H5Pget_nfilters(properties.id()) < 1) return {};
  std::vector<hsize_t> chunk(32);
  const int rank = H5Pget_chunk(properties.id(), static_cast<int>(chunk.size()), chunk.data());
  double bytes = static_cast<double>(H5Tget_size(type.id()));
  for (int k = 0; k < rank; ++k) bytes *= static_cast<double>(chunk[k]);
  if (bytes <= kept || bytes > most) return {};
  Handle access(H5Pcreate(H5P_DATASET_ACCESS));
  H5Pset_chunk_cache(access.id(), H5D_CHUNK_CACHE_NSLOTS_DEFAULT, static_cast<std::size_t>(bytes),
                     H5D_CHUNK_CACHE_W0_DEFAULT);
  return access;
}

/// Describes the dangling link on the way to `path`; empty if there is none.
static std::string lost_link(hid_t file, const std::string& name, const std::string& path) {
  for (std::size_t end = 1; end != std::string::npos && end < path.size();) {
    end = path.find('/', end + 1);
    const std::string part = path.substr(0, end);
    if (H5Lexists(file, part.c_str(), H5P_DEFAULT) <= 0) return {};
    if (H5Oexists_by_name(file, part.c_str(), H5P_DEFAULT) > 0) continue;
    H5Eclear2(H5E_DEFAULT);
    H5L_info_t info;
    if (H5Lget_info(file, part.c_str(), &info, H5P_DEFAULT) < 0 || info.type == H5L_TYPE_HARD) return {};
    std::vector<char> says(info.u.val_size + 1, '\0');
    if (H5Lget_val(file, part.c_str(), says.data(), says.size(), H5P_DEFAULT) < 0) return {};
    if (info.type == H5L_TYPE_SOFT)
      return fmt::format("'{}' in '{}' is a link to '{}', which is not in the file", part, name, says.data());
    unsigned flags = 0;
    const char *other = nullptr, *object = nullptr;
    if (info.type != H5L_TYPE_EXTERNAL ||
        H5Lunpack_elink_val(says.data(), info.u.val_size, &flags, &other, &object) < 0)
      return {};
    return fmt::format(
        "'{}' in '{}' is a link to '{}' of the file '{}', which is not there or does not hold it; copy "
        "that file to where the link names it (a relative name counts from the folder of '{}'), or name "
        "its folder in HDF5_EXT_PREFIX",
        part, name, object, other, name);
  }
  return {};
}

Dataset Group::dataset(const std::string& name) const { return opened(name, false); }

Dataset Group::opened(const std::string& name, bool stored) const {
  const Entered entered;
  const std::string path = absolute(name);
  if (!exists(name) || is_group(name)) {
    if (const std::string lost = lost_link(handle_.id(), file_, path); !lost.empty()) throw InputError(lost);
    throw InputError(fmt::format("'{}' has no dataset '{}'; '{}' holds: {}", file_, path, path_, listed(list())));
  }
  const Handle opened = checked(H5Dopen2(handle_.id(), path.c_str(), H5P_DEFAULT), "open", file_, path);
  stored ? require_files_of(opened, file_, path) : require_parts(opened, file_, path);
  const Handle access = room_for_a_chunk(opened);
  if (!access) return Dataset(opened, file_, path);
  H5Dclose(opened.id());  // objects open under one name share the chunk cache, so the first is closed before it is
                          // opened again
  return Dataset(checked(H5Dopen2(handle_.id(), path.c_str(), access.id()), "open", file_, path), file_, path);
}

Dataset Group::make(const std::string& name, const Handle& type, const Handle& space, const Handle& properties) {
  const Entered entered;
  const std::string path = absolute(name);
  const Handle links(H5Pcreate(H5P_LINK_CREATE));
  H5Pset_create_intermediate_group(links.id(), 1);
  return Dataset(
      checked(H5Dcreate2(handle_.id(), path.c_str(), type.id(), space.id(), links.id(), properties.id(), H5P_DEFAULT),
              "make the dataset", file_, path),
      file_, path);
}

Dataset Group::write(const std::string& name, const TensorRef& values) {
  const Entered entered;
  Dataset set = make(name, type_of(values.dtype), space_of(values), Handle(H5Pcreate(H5P_DATASET_CREATE)));
  set.write_block(std::vector<std::int64_t>(values.rank, 0), values);
  return set;
}

Dataset Group::write(const std::string& name, const std::string& text) {
  const Entered entered;
  Dataset set = make(name, text_type(), scalar_space(), Handle(H5Pcreate(H5P_DATASET_CREATE)));
  const char* pointer = text.c_str();
  checked_status(H5Dwrite(set.handle_.id(), text_type().id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, &pointer), "write", file_,
                 set.path());
  return set;
}

Dataset Group::write(const std::string& name, const std::vector<std::string>& texts) {
  const Entered entered;
  std::vector<const char*> pointers;
  for (const auto& text : texts) pointers.push_back(text.c_str());
  const hsize_t extent = pointers.size();
  Dataset set =
      make(name, text_type(), Handle(H5Screate_simple(1, &extent, nullptr)), Handle(H5Pcreate(H5P_DATASET_CREATE)));
  checked_status(H5Dwrite(set.handle_.id(), text_type().id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()), "write",
                 file_, set.path());
  return set;
}

Dataset Group::write_enumeration(const std::string& name, const std::vector<int>& values,
                                 const std::vector<std::string>& names) {
  const Entered entered;
  const Handle type(H5Tenum_create(H5T_NATIVE_INT));
  for (int value = 0; value < std::ssize(names); ++value)
    checked_status(H5Tenum_insert(type.id(), names[value].c_str(), &value), "name a value of", file_, absolute(name));
  Dataset set = make(name, type, space_of(tensor_of(values)), Handle(H5Pcreate(H5P_DATASET_CREATE)));
  checked_status(H5Dwrite(set.handle_.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "write", file_,
                 set.path());
  return set;
}

void Group::link(const std::string& existing, const std::string& name) {
  const Entered entered;
  const Handle links(H5Pcreate(H5P_LINK_CREATE));
  H5Pset_create_intermediate_group(links.id(), 1);
  checked_status(H5Lcreate_hard(handle_.id(), absolute(existing).c_str(), handle_.id(), absolute(name).c_str(),
                                links.id(), H5P_DEFAULT),
                 "link", file_, absolute(name));
}

Dataset Group::allocate(const std::string& name, DType type, std::span<const std::int64_t> shape,
                        std::span<const std::int64_t> chunk) {
  const Entered entered;
  std::vector<hsize_t> extent(shape.begin(), shape.end());
  const Handle space(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr));
  const Handle properties(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_alloc_time(properties.id(), H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(properties.id(), H5D_FILL_TIME_NEVER);
  const std::vector<hsize_t> part(chunk.begin(), chunk.end());
  if (!part.empty()) H5Pset_chunk(properties.id(), static_cast<int>(part.size()), part.data());
  return make(name, type_of(type), space, properties);
}

std::vector<std::int64_t> detail::series_chunk(DType type, std::span<const std::int64_t> row_shape,
                                               std::int64_t rows_at_once) {
  std::vector<std::int64_t> chunk{1};
  std::int64_t bytes = size_of(type);
  for (auto n : row_shape) {
    chunk.push_back(std::max<std::int64_t>(n, 1));
    bytes *= n;
  }
  chunk[0] = std::clamp<std::int64_t>(65536 / std::max<std::int64_t>(bytes, 1), 1, 1024);
  chunk[0] = std::max(chunk[0], std::min(rows_at_once, (std::int64_t{1} << 20) / std::max<std::int64_t>(bytes, 1)));
  constexpr std::int64_t most = std::int64_t{1} << 30;
  for (std::size_t k = 1; k < chunk.size() && bytes > most; ++k) {
    const std::int64_t parts = std::min(chunk[k], bytes / most + 1);
    chunk[k] = (chunk[k] + parts - 1) / parts;
    bytes = bytes / parts + 1;
  }
  return chunk;
}

Dataset Group::create_series(const std::string& name, DType type, std::span<const std::int64_t> row_shape,
                             std::int64_t rows_at_once) {
  const Entered entered;
  std::vector<hsize_t> extent{0}, limit{H5S_UNLIMITED};
  for (auto n : row_shape) {
    extent.push_back(n);
    limit.push_back(n);
  }
  const auto part = series_chunk(type, row_shape, rows_at_once);
  const std::vector<hsize_t> chunk(part.begin(), part.end());
  const Handle space(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), limit.data()));
  const Handle properties(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_chunk(properties.id(), static_cast<int>(chunk.size()), chunk.data());
  return make(name, type_of(type), space, properties);
}

Dataset Group::create_coded_series(const std::string& name, DType type, std::span<const std::int64_t> row_shape,
                                   const lowp::FieldCoding& coding, const lowp::Enhancer* weights) {
  const Entered entered;
  if (type != DType::f32 && type != DType::f64)
    throw InternalError(fmt::format("'{}': an error bound is for real numbers of 32 or 64 bits", name));
  std::vector<hsize_t> extent{0}, limit{H5S_UNLIMITED}, chunk{1};
  for (auto n : row_shape) {
    extent.push_back(n);
    limit.push_back(n);
    chunk.push_back(std::max<hsize_t>(n, 1));
  }
  const double bytes = std::accumulate(chunk.begin(), chunk.end(), double(size_of(type)), std::multiplies<>());
  if (bytes >= 2147483648.0)
    throw InputError(
        fmt::format("'{}' in '{}': a frame of {:.3g} GB is too large to be compressed in one piece (at most 2); leave "
                    "out 'compress'",
                    absolute(name), file_, bytes / 1e9));
  const auto values =
      lossy_filter_values(coding, weights, static_cast<int>(size_of(type)), {chunk.begin(), chunk.end()});
  const Handle space(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), limit.data()));
  const Handle properties(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_chunk(properties.id(), static_cast<int>(chunk.size()), chunk.data());
  H5Pset_filter(properties.id(), lossy_filter_id, H5Z_FLAG_MANDATORY, values.size(), values.data());
  return make(name, type_of(type), space, properties);
}

}  // namespace cambium::io
