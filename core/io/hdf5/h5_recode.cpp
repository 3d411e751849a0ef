#include "core/io/hdf5/h5_recode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>

#include "core/base/error.hpp"
#include "core/io/hdf5/fills.hpp"
#include "core/io/hdf5/filter.hpp"
#include "core/io/hdf5/h5_copy.hpp"
#include "core/io/hdf5/seal.hpp"

namespace cambium::io {
namespace {

using detail::checked;
using detail::checked_status;
using detail::Entered;
using detail::FileCopy;
using detail::set_lossless;

bool is_coded(const Handle& set) {
  const Handle properties(H5Dget_create_plist(set.id()));
  unsigned flags = 0;
  std::size_t values = 0;
  return H5Pget_filter_by_id2(properties.id(), lossy_filter_id, &flags, &values, nullptr, 0, nullptr, nullptr) >= 0;
}

/// How a data set of the copy is created and filled: its chunks, one at a time.
struct Plan {
  DType type = DType::f32;
  std::vector<std::int64_t> shape, chunk;  ///< chunk: of one read and write
  bool chunked = true;
  std::vector<unsigned> filter;  ///< values of the filter; empty: none
  bool lossless = false;         ///< by the filters that every HDF5 has
};

/// True if it can grow along any dimension.
bool can_grow(const Handle& set) {
  const Handle space(H5Dget_space(set.id()));
  std::vector<hsize_t> now(32), most(32);
  const int rank = H5Sget_simple_extent_dims(space.id(), now.data(), most.data());
  return rank > 0 && !std::equal(now.begin(), now.begin() + rank, most.begin());
}

/// Creation properties of `set`, without its filters and its storage location.
Handle creation_of(const Handle& set) {
  Handle old(H5Dget_create_plist(set.id()));
  if (H5Pget_external_count(old.id()) == 0 && H5Pget_layout(old.id()) != H5D_VIRTUAL) {
    H5Premove_filter(old.id(), H5Z_FILTER_ALL);
    return old;
  }
  Handle fresh(H5Pcreate(H5P_DATASET_CREATE));
  const Handle type(H5Dget_type(set.id()));
  double fill = 0.0;  // for numeric types of up to 64 bits
  if (H5Pget_fill_value(old.id(), type.id(), &fill) >= 0) H5Pset_fill_value(fresh.id(), type.id(), &fill);
  return fresh;
}

/// Makes the data set with extents, largest extents, type and properties of `from`.
void make(const Dataset& from, Group& to, const Plan& plan, hid_t from_file, hid_t to_file) {
  const Handle old = checked(H5Dopen2(from_file, from.path().c_str(), H5P_DEFAULT), "read", from.file(), from.path());
  const Handle space(H5Dget_space(old.id())), named(H5Dget_type(old.id())), type(H5Tcopy(named.id()));
  const Handle properties = creation_of(old);
  const std::vector<hsize_t> chunk(plan.chunk.begin(), plan.chunk.end());
  if (plan.chunked)
    H5Pset_chunk(properties.id(), static_cast<int>(chunk.size()), chunk.data());
  else
    H5Pset_layout(properties.id(), H5D_CONTIGUOUS);
  H5Pset_alloc_time(properties.id(), H5D_ALLOC_TIME_DEFAULT);
  if (plan.lossless) set_lossless(properties, to.file(), from.path());
  if (!plan.filter.empty())
    H5Pset_filter(properties.id(), lossy_filter_id, H5Z_FLAG_MANDATORY, plan.filter.size(), plan.filter.data());
  checked(H5Dcreate2(to_file, from.path().c_str(), type.id(), space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
          "create", to.file(), from.path());
}

/// Advances `start` to the next block, the last dimension fastest; false after the last one.
bool next_block(const Plan& plan, std::vector<std::int64_t>& start) {
  for (std::size_t d = start.size(); d-- > 0;) {
    if ((start[d] += plan.chunk[d]) < plan.shape[d]) return true;
    start[d] = 0;
  }
  return false;
}

/// Reads or writes the block of a data set that starts at `start`; of any rank, which tensors are not.
template <class T>
void move_block(const Handle& set, const std::vector<std::int64_t>& start, const std::vector<std::int64_t>& extent,
                std::vector<T>& values, bool write, const Dataset& named) {
  const std::vector<hsize_t> from(start.begin(), start.end()), size(extent.begin(), extent.end());
  const Handle there(H5Dget_space(set.id())),
      here(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr));
  H5Sselect_hyperslab(there.id(), H5S_SELECT_SET, from.data(), nullptr, size.data(), nullptr);
  values.resize(H5Sget_simple_extent_npoints(here.id()));
  const Handle type = detail::type_of(sizeof(T) == 4 ? DType::f32 : DType::f64);
  const herr_t done = write ? H5Dwrite(set.id(), type.id(), here.id(), there.id(), H5P_DEFAULT, values.data())
                            : H5Dread(set.id(), type.id(), here.id(), there.id(), H5P_DEFAULT, values.data());
  checked_status(done, write ? "write" : "read", named.file(), named.path());
}

Handle opened(hid_t file, const Dataset& set) {
  return checked(H5Dopen2(file, set.path().c_str(), H5P_DEFAULT), "open", set.file(), set.path());
}

void require_chunk(const Handle& set, const std::vector<std::int64_t>& start, const Dataset& named);

template <class T>
void copy_values(const Dataset& from, const Dataset& to, const Plan& plan, hid_t from_file, hid_t to_file) {
  const Handle source = opened(from_file, from), target = opened(to_file, to);
  const bool coded = is_coded(source);
  std::vector<std::int64_t> start(plan.shape.size(), 0);
  std::vector<T> values;
  do {
    std::vector<std::int64_t> extent;
    for (std::size_t k = 0; k < start.size(); ++k) extent.push_back(std::min(plan.chunk[k], plan.shape[k] - start[k]));
    if (coded) require_chunk(source, start, from);
    move_block(source, start, extent, values, false, from);
    move_block(target, start, extent, values, true, to);
  } while (next_block(plan, start));
  // A block may still be cached, and its filter reports errors only here.
  checked_status(H5Dflush(target.id()), "write", to.file(), to.path());
}

void fill(const Dataset& from, Group& to, const Plan& plan, hid_t from_file, hid_t to_file,
          std::vector<Recoded>& list) {
  const auto set = to.dataset(from.path());
  if (from.elements() > 0)
    plan.type == DType::f32 ? copy_values<float>(from, set, plan, from_file, to_file)
                            : copy_values<double>(from, set, plan, from_file, to_file);
  list.push_back({from.path(), from.elements(), size_of(plan.type), from.stored_bytes(), set.stored_bytes(), "", true});
}

/// Real type of native byte order, of 32 or 64 bits.
std::optional<DType> real_type(hid_t file, const Dataset& set) {
  const Handle opened(H5Dopen2(file, set.path().c_str(), H5P_DEFAULT)), type(H5Dget_type(opened.id()));
  if (H5Tequal(type.id(), H5T_NATIVE_FLOAT) > 0) return DType::f32;
  if (H5Tequal(type.id(), H5T_NATIVE_DOUBLE) > 0) return DType::f64;
  return std::nullopt;
}

/// True if it can grow along its first dimension only: a series of frames.
bool is_series(hid_t file, const Dataset& set) {
  const Handle opened(H5Dopen2(file, set.path().c_str(), H5P_DEFAULT)), space(H5Dget_space(opened.id()));
  std::vector<hsize_t> now(set.shape().size()), most(now.size());
  H5Sget_simple_extent_dims(space.id(), now.data(), most.data());
  return now.size() > 1 && most[0] == H5S_UNLIMITED;
}

/// Fill values: those of the CF conventions, and the HDF5 fill value of unwritten data.
std::vector<double> fills_of(hid_t file, const Dataset& set) {
  std::vector<double> found;
  for (const char* name : {"_FillValue", "missing_value"})
    if (set.has_attribute(name)) {
      const Handle here = opened(file, set), attribute(H5Aopen(here.id(), name, H5P_DEFAULT));
      const Handle type(H5Aget_type(attribute.id())), space(H5Aget_space(attribute.id()));
      const auto points = H5Sget_simple_extent_npoints(space.id());
      if (points < 1 || (H5Tget_class(type.id()) != H5T_FLOAT && H5Tget_class(type.id()) != H5T_INTEGER)) continue;
      std::vector<double> values(points);
      if (H5Aread(attribute.id(), H5T_NATIVE_DOUBLE, values.data()) >= 0)
        found.insert(found.end(), values.begin(), values.end());
    }
  const Handle here = opened(file, set), properties(H5Dget_create_plist(here.id()));
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  double fill = 0.0;
  if (H5Pfill_value_defined(properties.id(), &defined) >= 0 && defined == H5D_FILL_VALUE_USER_DEFINED &&
      H5Pget_fill_value(properties.id(), H5T_NATIVE_DOUBLE, &fill) >= 0 && fill != 0.0)
    found.push_back(fill);
  std::vector<double> out;
  for (const double x : found)
    if (std::isfinite(x) && std::find(out.begin(), out.end(), x) == out.end() && out.size() < most_fills)
      out.push_back(x);
  return out;
}

template <class T>
std::optional<lowp::Enhancer> weights_for(const Dataset& set, hid_t file, const Plan& plan,
                                          const lowp::FieldCoding& coding, const std::vector<double>& fills) {
  std::vector<T> first;
  move_block(opened(file, set), std::vector<std::int64_t>(plan.chunk.size(), 0), plan.chunk, first, false, set);
  mark_fills<T>(first, fills);
  lowp::EnhancedReport report;
  return lowp::enhancer_for<T>(first, plan.chunk, coding.bound, coding.predictor, coding.learned->fit, {}, report);
}

/// Reason why real values are copied unchanged; empty if they need not be, and for other types.
std::string reason_to_keep(hid_t file, const Dataset& set) {
  if (set.has_attribute("CLASS") && set.attribute<std::string>("CLASS").starts_with("DIMENSION_SCALE"))
    return "it is the scale of a dimension";
  const Handle here = opened(file, set), type(H5Dget_type(here.id()));
  if (is_coded(here)) return "it is compressed already, and errors would add up";
  if (H5Tget_class(type.id()) != H5T_FLOAT || real_type(file, set)) return {};
  const auto bits = 8 * H5Tget_size(type.id());
  return bits == 32 || bits == 64 ? "its values have the byte order of other machines"
                                  : fmt::format("its values have {} bits, not 32 or 64", bits);
}

/// Chunks of about 1 MiB: rows of a series, else the leading dimensions are split.
std::vector<std::int64_t> lossless_chunk(const Plan& plan, bool series) {
  if (series) return detail::series_chunk(plan.type, std::span(plan.shape).subspan(1), 1);
  constexpr double wanted = 1 << 20;
  auto chunk = plan.shape;
  double bytes = size_of(plan.type);
  for (const auto n : chunk) bytes *= static_cast<double>(n);
  for (std::size_t k = 0; k < chunk.size() && bytes > wanted; ++k) {
    const auto parts = std::min(static_cast<double>(chunk[k]), std::ceil(bytes / wanted));
    chunk[k] = (chunk[k] + static_cast<std::int64_t>(parts) - 1) / static_cast<std::int64_t>(parts);
    bytes /= parts;
  }
  return chunk;
}

/// False if the data set is to be copied unchanged.
bool encode(const Dataset& from, Group& to, const Compression& compress, std::int64_t fewest, hid_t from_file,
            hid_t to_file, std::vector<Recoded>& list) {
  const auto type = real_type(from_file, from);
  if (from.shape().empty() || from.elements() < std::max<std::int64_t>(fewest, 1)) return false;
  if (const auto reason = reason_to_keep(from_file, from); !reason.empty() || !type) {
    if (!reason.empty())
      list.push_back({from.path(), from.elements(), 0, from.stored_bytes(), from.stored_bytes(), reason, true});
    return false;
  }
  Plan plan{*type, from.shape(), from.shape(), true, {}};
  const bool series = is_series(from_file, from);
  if (compress.lossless()) {
    plan.lossless = true;
    plan.chunk = lossless_chunk(plan, series);
    make(from, to, plan, from_file, to_file);
    fill(from, to, plan, from_file, to_file, list);
    return true;
  }
  if (series) plan.chunk[0] = 1;
  double bytes = size_of(plan.type);
  for (auto n : plan.chunk) bytes *= static_cast<double>(n);
  if (bytes >= 2147483648.0)
    throw InputError(
        fmt::format("'{}' in '{}': a frame of {:.3g} GB is too large to be compressed in one piece (at most 2); store "
                    "it as a series of frames that can grow along its first dimension",
                    from.path(), from.file(), bytes / 1e9));
  auto coding = compress.coding();
  const auto fills = fills_of(from_file, from);
  std::optional<lowp::Enhancer> weights;
  if (coding.learned && compress.fit == Compression::Fit::first_frame) {
    weights = plan.type == DType::f32 ? weights_for<float>(from, from_file, plan, coding, fills)
                                      : weights_for<double>(from, from_file, plan, coding, fills);
    if (!weights) coding.learned.reset();
  }
  plan.filter = lossy_filter_values(coding, weights ? &*weights : nullptr, static_cast<int>(size_of(plan.type)),
                                    {plan.chunk.begin(), plan.chunk.end()}, fills);
  make(from, to, plan, from_file, to_file);
  fill(from, to, plan, from_file, to_file, list);
  return true;
}

[[noreturn]] void refuse_damaged(const Dataset& named, const std::string& why) {
  throw InputError(
      fmt::format("'{}' in '{}' is damaged: {}; copy the file again from its source", named.path(), named.file(), why));
}

/// Every chunk of a compressed array went through the filter, or the file is damaged: HDF5 would give the packed bytes
/// for one that it takes for unpacked.
void require_packed_chunks(const Handle& set, const Dataset& named) {
#if H5_VERSION_GE(1, 10, 5)
  hsize_t found = 0;
  const Handle space(H5Dget_space(set.id()));
  checked_status(H5Dget_num_chunks(set.id(), space.id(), &found), "count the chunks of", named.file(), named.path());
  constexpr hsize_t most = 2000;  // each question goes through all of them
  for (hsize_t k = 0; k < std::min(found, most); ++k) {
    hsize_t offset[H5S_MAX_RANK], bytes = 0;
    haddr_t address = 0;
    unsigned mask = 0;
    checked_status(H5Dget_chunk_info(set.id(), space.id(), k, offset, &mask, &address, &bytes), "inspect the chunks of",
                   named.file(), named.path());
    if (mask != 0) refuse_damaged(named, "one of its chunks is marked as one that is not compressed");
  }
#endif
}

/// Requires that the chunk at `start` exists; otherwise the file is damaged: HDF5 would return the fill value.
void require_chunk(const Handle& set, const std::vector<std::int64_t>& start, const Dataset& named) {
  const std::vector<hsize_t> offset(start.begin(), start.end());
  hsize_t bytes = 0;
  if (H5Dget_chunk_storage_size(set.id(), offset.data(), &bytes) >= 0 && bytes > 0) return;
  H5Eclear2(H5E_DEFAULT);
  refuse_damaged(named, fmt::format("its compressed chunk at ({}) is not in the file", fmt::join(start, ", ")));
}

bool is_verified(const Handle& set) {
  const Handle properties(H5Dget_create_plist(set.id()));
  unsigned flags = 0, first = 0;
  std::size_t n = 1;
  return H5Pget_filter_by_id2(properties.id(), lossy_filter_id, &flags, &n, &first, 0, nullptr, nullptr) >= 0 &&
         has_checksum(n, &first);
}

bool decode(const Dataset& from, Group& to, hid_t from_file, hid_t to_file, std::vector<Recoded>& list) {
  const Handle set = opened(from_file, from);
  if (!is_coded(set)) return false;
  require_packed_chunks(set, from);
  const auto type = real_type(from_file, from);
  if (!type)
    refuse_damaged(from, "the filter of Cambium packs real numbers of 32 or 64 bits, and its description names others");
  Plan plan{*type, from.shape(), from.chunk(), can_grow(set), {}};
  make(from, to, plan, from_file, to_file);
  fill(from, to, plan, from_file, to_file, list);
  list.back().verified = is_verified(set);
  return true;
}

using Recode =
    std::function<bool(const Dataset& from, Group& to, hid_t from_file, hid_t to_file, std::vector<Recoded>& list)>;

/// Writes the copy under a temporary name and renames it when it is complete.
std::vector<Recoded> written(const std::string& from, const std::string& to, bool sealed, const Recode& recode) {
  if (std::filesystem::exists(to))
    throw InputError(fmt::format("'{}' exists; give the name of a new file, or remove it", to));
  const std::string beside = to + ".part";
  std::vector<Recoded> list;
  try {
    FileCopy(from, beside, to, [&](const Dataset& set, Group& out, hid_t in_file, hid_t out_file) {
      return recode(set, out, in_file, out_file, list);
    }).run();
    if (sealed) seal(beside, to);
  } catch (...) {
    std::filesystem::remove(beside);
    throw;
  }
  std::filesystem::rename(beside, to);
  return list;
}

}  // namespace

std::vector<Recoded> compress_file(const std::string& from, const std::string& to, const Compression& compress,
                                   std::int64_t fewest) {
  const Entered entered;
  return written(from, to, true,
                 [&](const Dataset& set, Group& out, hid_t in_file, hid_t out_file, std::vector<Recoded>& list) {
                   return encode(set, out, compress, fewest, in_file, out_file, list);
                 });
}

namespace {

/// InternalError if a value differs by more than the bound of its chunk.
template <class T>
void require_within(const Dataset& from, const Dataset& to, const Plan& plan, const Compression& compress,
                    hid_t from_file, hid_t to_file) {
  const Handle source = opened(from_file, from), target = opened(to_file, to);
  std::vector<std::int64_t> start(plan.shape.size(), 0);
  std::vector<T> before, after;
  do {
    move_block(source, start, plan.chunk, before, false, from);
    move_block(target, start, plan.chunk, after, false, to);
    const double bound = lowp::absolute_bound<T>(before, plan.chunk, compress.bound(), compress.coding().predictor);
    for (std::size_t k = 0; k < before.size(); ++k)
      if (std::isfinite(before[k])
              ? !(std::abs(static_cast<double>(before[k]) - static_cast<double>(after[k])) <= bound)
              : std::memcmp(&before[k], &after[k], sizeof(T)) != 0)
        throw InternalError(fmt::format("'{}' in '{}': a value {} came back as {}, beyond the bound {}", from.path(),
                                        from.file(), before[k], after[k], bound));
  } while (next_block(plan, start));
}

}  // namespace

void require_bound(const std::string& from, const std::string& to, const Compression& compress,
                   const std::vector<Recoded>& list) {
  if (compress.lossless() || compress.psnr) return;
  const Entered entered;
  const File before = File::open(from), after = File::open(to);
  const Handle in(H5Fopen(from.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)),
      out(H5Fopen(to.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  for (const auto& recoded : list) {
    if (!recoded.kept.empty() || recoded.elements == 0) continue;
    const auto source = before.dataset(recoded.path), target = after.dataset(recoded.path);
    const Plan plan{source.dtype(), source.shape(), target.chunk(), true, {}};
    plan.type == DType::f32 ? require_within<float>(source, target, plan, compress, in.id(), out.id())
                            : require_within<double>(source, target, plan, compress, in.id(), out.id());
  }
}

std::vector<Recoded> decompress_file(const std::string& from, const std::string& to) {
  require_unbroken(from);
  const Entered entered;
  auto list = written(from, to, false,
                      [](const Dataset& set, Group& out, hid_t in_file, hid_t out_file, std::vector<Recoded>& l) {
                        return decode(set, out, in_file, out_file, l);
                      });
  if (!list.empty()) return list;
  std::filesystem::remove(to);
  throw InputError(
      fmt::format("'{}' holds nothing that Cambium compressed; every program with HDF5 reads it as it is", from));
}

}  // namespace cambium::io
