#include "core/io/hdf5/h5_recode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5_internal.hpp"
#include "core/io/lossy_filter/filter.hpp"

namespace cambium::io {
namespace {

using detail::checked;
using detail::checked_status;
using detail::Entered;

#if H5_VERSION_GE(1, 12, 0)
using ObjectInfo = H5O_info1_t;
constexpr auto info_by_name = H5Oget_info_by_name1;
#else
using ObjectInfo = H5O_info_t;
constexpr auto info_by_name = H5Oget_info_by_name1;
#endif

/// Attributes that hold addresses in the file: made anew for the copy.
bool holds_addresses(const std::string& name) { return name == "DIMENSION_LIST" || name == "REFERENCE_LIST"; }

bool is_coded(const Handle& set) {
  const Handle properties(H5Dget_create_plist(set.id()));
  unsigned flags = 0;
  std::size_t values = 0;
  return H5Pget_filter_by_id2(properties.id(), lossy_filter_id, &flags, &values, nullptr, 0, nullptr, nullptr) >= 0;
}

/// Copies a file object by object; `recode` makes the data sets that are to be stored in another way.
class Copy {
 public:
  /// False: the data set is copied as it is. The files' identifiers are those of `from` and `to`.
  using Recode =
      std::function<bool(const Dataset& from, Group& to, hid_t from_file, hid_t to_file, std::vector<Recoded>& list)>;
  Copy(const std::string& from, const std::string& to, Recode recode)
      : from_(File::open(from)), to_(File::create(to)), recode_(std::move(recode)) {}

  std::vector<Recoded> run() {
    copy_attributes("/");
    copy_group("/");
    for (const auto& path : scaled_) attach(path);
    to_.close();
    return std::move(list_);
  }

 private:
  static std::string below(const std::string& group, const std::string& name) {
    return group == "/" ? "/" + name : group + "/" + name;
  }

  void copy_group(const std::string& group) {
    for (const auto& name : from_.group(group).list()) {
      const std::string path = below(group, name);
      // One object under two names stays one.
      ObjectInfo info;
      checked_status(info_by_name(root(), path.c_str(), &info, H5P_DEFAULT), "read", from_.file(), path);
      const auto [known, fresh] = copied_.emplace(info.addr, path);
      if (!fresh) {
        to_.link(known->second, path);
      } else if (info.type == H5O_TYPE_GROUP) {
        to_.create_group(path);
        copy_attributes(path);
        copy_group(path);
      } else {
        copy_object(path, info.type == H5O_TYPE_DATASET);
      }
    }
  }

  void copy_object(const std::string& path, bool is_set) {
    const bool again = is_set && recode_(from_.dataset(path), to_, root(), new_root(), list_);
    if (again)
      copy_attributes(path);
    else
      checked_status(H5Ocopy(root(), path.c_str(), new_root(), path.c_str(), H5P_DEFAULT, H5P_DEFAULT), "copy",
                     from_.file(), path);
    if (!is_set) return;
    if (from_.dataset(path).has_attribute("DIMENSION_LIST")) scaled_.push_back(path);
    for (const char* name : {"DIMENSION_LIST", "REFERENCE_LIST"})
      if (to_.dataset(path).has_attribute(name))
        checked_status(H5Adelete_by_name(new_root(), path.c_str(), name, H5P_DEFAULT), "write", to_.file(), path);
  }

  void copy_attributes(const std::string& path) {
    const Handle from = checked(H5Oopen(root(), path.c_str(), H5P_DEFAULT), "read", from_.file(), path);
    const Handle to = checked(H5Oopen(new_root(), path.c_str(), H5P_DEFAULT), "write", to_.file(), path);
    const auto one = [](hid_t object, const char* name, const H5A_info_t*, void* target) -> herr_t {
      if (holds_addresses(name)) return 0;
      const Handle in(H5Aopen(object, name, H5P_DEFAULT));
      const Handle type(H5Aget_type(in.id())), space(H5Aget_space(in.id()));
      const hid_t there = static_cast<const Handle*>(target)->id();
      const Handle out(H5Acreate2(there, name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT));
      const std::size_t bytes = H5Aget_storage_size(in.id()) + H5Tget_size(type.id());
      std::vector<char> values(bytes * 2);
      if (H5Aread(in.id(), type.id(), values.data()) < 0) return -1;
      const herr_t written = H5Awrite(out.id(), type.id(), values.data());
      if (H5Tdetect_class(type.id(), H5T_VLEN) > 0 || H5Tis_variable_str(type.id()) > 0)
        H5Dvlen_reclaim(type.id(), space.id(), H5P_DEFAULT, values.data());
      return written;
    };
    hsize_t begin = 0;
    checked_status(H5Aiterate2(from.id(), H5_INDEX_NAME, H5_ITER_INC, &begin, one, const_cast<Handle*>(&to)),
                   "copy the attributes of", from_.file(), path);
  }

  /// Gives an array of the copy the scales that it had, by their names.
  void attach(const std::string& path) {
    const Handle set = checked(H5Dopen2(root(), path.c_str(), H5P_DEFAULT), "read", from_.file(), path);
    const Handle list(H5Aopen(set.id(), "DIMENSION_LIST", H5P_DEFAULT)), space(H5Aget_space(list.id()));
    const Handle type(H5Tvlen_create(H5T_STD_REF_OBJ));
    std::vector<hvl_t> rows(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.id())), hvl_t{0, nullptr});
    if (H5Aread(list.id(), type.id(), rows.data()) < 0) return;
    std::vector<std::vector<hobj_ref_t>> references(rows.size());
    std::vector<hvl_t> fresh(rows.size(), hvl_t{0, nullptr});
    for (std::size_t d = 0; d < rows.size(); ++d) {
      for (std::size_t k = 0; k < rows[d].len; ++k) {
        std::vector<char> name(1024, 0);
        hobj_ref_t reference;
        const auto* old = static_cast<const hobj_ref_t*>(rows[d].p) + k;
        if (H5Rget_name(set.id(), H5R_OBJECT, old, name.data(), name.size()) > 0 &&
            H5Rcreate(&reference, new_root(), name.data(), H5R_OBJECT, -1) >= 0)
          references[d].push_back(reference);
      }
      fresh[d] = {references[d].size(), references[d].data()};
    }
    const Handle copy = checked(H5Dopen2(new_root(), path.c_str(), H5P_DEFAULT), "write", to_.file(), path);
    const Handle made(H5Acreate2(copy.id(), "DIMENSION_LIST", type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT));
    checked_status(H5Awrite(made.id(), type.id(), fresh.data()), "write the scales of", to_.file(), path);
    H5Dvlen_reclaim(type.id(), space.id(), H5P_DEFAULT, rows.data());
  }

  hid_t root() const { return from_.id(); }
  hid_t new_root() const { return to_.id(); }

  /// A file that says its identifier.
  struct Opened : File {
    Opened(File file) : File(std::move(file)) {}
    hid_t id() const { return handle_.id(); }
  };

  Opened from_, to_;
  Recode recode_;
  std::vector<Recoded> list_;
  std::map<haddr_t, std::string> copied_;
  std::vector<std::string> scaled_;
};

/// How a data set of the copy is made and filled: its chunks, one at a time.
struct Plan {
  DType type = DType::f32;
  std::vector<std::int64_t> shape, chunk;  ///< chunk: of one read and write
  bool chunked = true;
  std::vector<unsigned> filter;  ///< values of the filter; empty: none
};

/// Makes the data set with extents, largest extents and type of `from`.
void make(const Dataset& from, Group& to, const Plan& plan, hid_t from_file, hid_t to_file) {
  const Handle old = checked(H5Dopen2(from_file, from.path().c_str(), H5P_DEFAULT), "read", from.file(), from.path());
  const Handle space(H5Dget_space(old.id())), type(H5Dget_type(old.id())), properties(H5Pcreate(H5P_DATASET_CREATE));
  const std::vector<hsize_t> chunk(plan.chunk.begin(), plan.chunk.end());
  if (plan.chunked) H5Pset_chunk(properties.id(), static_cast<int>(chunk.size()), chunk.data());
  if (!plan.filter.empty())
    H5Pset_filter(properties.id(), lossy_filter_id, H5Z_FLAG_MANDATORY, plan.filter.size(), plan.filter.data());
  checked(H5Dcreate2(to_file, from.path().c_str(), type.id(), space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
          "create", to.file(), from.path());
}

/// The block after the one that starts at `start`, the last dimension first; false behind the last one.
bool next_block(const Plan& plan, std::vector<std::int64_t>& start) {
  for (std::size_t d = start.size(); d-- > 0;) {
    if ((start[d] += plan.chunk[d]) < plan.shape[d]) return true;
    start[d] = 0;
  }
  return false;
}

/// Contiguous memory of this extent as a tensor.
template <class T>
TensorRef block_of(std::vector<T>& values, const std::vector<std::int64_t>& extent, DType type) {
  std::size_t elements = 1;
  for (auto n : extent) elements *= static_cast<std::size_t>(n);
  values.resize(elements);
  TensorRef out;
  out.data = values.data(), out.dtype = type;
  for (auto n : extent) out.shape[out.rank++] = n;
  for (std::int64_t stride = 1, k = out.rank - 1; k >= 0; stride *= out.shape[k--]) out.stride[k] = stride;
  return out;
}

template <class T>
void copy_values(const Dataset& from, Dataset to, const Plan& plan) {
  std::vector<std::int64_t> start(plan.shape.size(), 0);
  std::vector<T> values;
  do {
    std::vector<std::int64_t> extent;
    for (std::size_t k = 0; k < start.size(); ++k) extent.push_back(std::min(plan.chunk[k], plan.shape[k] - start[k]));
    const auto block = block_of(values, extent, plan.type);
    from.read_block(start, block);
    to.write_block(start, block);
  } while (next_block(plan, start));
}

void fill(const Dataset& from, Group& to, const Plan& plan, std::vector<Recoded>& list) {
  auto set = to.dataset(from.path());
  if (from.elements() > 0)
    plan.type == DType::f32 ? copy_values<float>(from, set, plan) : copy_values<double>(from, set, plan);
  list.push_back({from.path(), from.elements(), size_of(plan.type), from.stored_bytes(), set.stored_bytes()});
}

/// Real numbers of the processor's own form, of 32 or 64 bits.
std::optional<DType> real_type(hid_t file, const Dataset& set) {
  const Handle opened(H5Dopen2(file, set.path().c_str(), H5P_DEFAULT)), type(H5Dget_type(opened.id()));
  if (H5Tequal(type.id(), H5T_NATIVE_FLOAT) > 0) return DType::f32;
  if (H5Tequal(type.id(), H5T_NATIVE_DOUBLE) > 0) return DType::f64;
  return std::nullopt;
}

/// It can grow along its first dimension alone: a series of frames.
bool is_series(hid_t file, const Dataset& set) {
  const Handle opened(H5Dopen2(file, set.path().c_str(), H5P_DEFAULT)), space(H5Dget_space(opened.id()));
  std::vector<hsize_t> now(set.shape().size()), most(now.size());
  H5Sget_simple_extent_dims(space.id(), now.data(), most.data());
  return now.size() > 1 && most[0] == H5S_UNLIMITED;
}

template <class T>
std::optional<lowp::Enhancer> weights_for(const Dataset& set, const Plan& plan, const lowp::FieldCoding& coding) {
  std::vector<T> first;
  set.read_block(std::vector<std::int64_t>(plan.chunk.size(), 0), block_of(first, plan.chunk, plan.type));
  lowp::EnhancedReport report;
  return lowp::enhancer_for<T>(first, plan.chunk, coding.bound, coding.predictor, coding.learned->fit, {}, report);
}

/// False where the data set is to be copied as it is.
bool encode(const Dataset& from, Group& to, const Compression& compress, std::int64_t fewest, hid_t from_file,
            hid_t to_file, std::vector<Recoded>& list) {
  const auto type = real_type(from_file, from);
  if (!type || from.elements() < fewest) return false;
  Plan plan{*type, from.shape(), from.shape(), true, {}};
  if (is_series(from_file, from)) plan.chunk[0] = 1;
  double bytes = size_of(plan.type);
  for (auto n : plan.chunk) bytes *= static_cast<double>(n);
  if (bytes >= 2147483648.0)
    throw InputError(
        fmt::format("'{}' in '{}': a frame of {:.3g} GB is too large to be compressed in one piece (at most 2); store "
                    "it as a series of frames that can grow along its first dimension",
                    from.path(), from.file(), bytes / 1e9));
  auto coding = compress.coding();
  std::optional<lowp::Enhancer> weights;
  if (coding.learned && compress.fit == Compression::Fit::first_frame) {
    weights =
        plan.type == DType::f32 ? weights_for<float>(from, plan, coding) : weights_for<double>(from, plan, coding);
    if (!weights) coding.learned.reset();
  }
  plan.filter = lossy_filter_values(coding, weights ? &*weights : nullptr, static_cast<int>(size_of(plan.type)),
                                    {plan.chunk.begin(), plan.chunk.end()});
  make(from, to, plan, from_file, to_file);
  fill(from, to, plan, list);
  return true;
}

bool decode(const Dataset& from, Group& to, hid_t from_file, hid_t to_file, std::vector<Recoded>& list) {
  const Handle opened(H5Dopen2(from_file, from.path().c_str(), H5P_DEFAULT));
  if (!is_coded(opened)) return false;
  const auto type = real_type(from_file, from);
  if (!type) throw InternalError(fmt::format("'{}': numbers of an unknown type went through the filter", from.path()));
  Plan plan{*type, from.shape(), from.chunk(), is_series(from_file, from), {}};
  make(from, to, plan, from_file, to_file);
  fill(from, to, plan, list);
  return true;
}

/// Writes the copy beside its name and gives it that name when it is whole.
std::vector<Recoded> written(const std::string& from, const std::string& to, const Copy::Recode& recode) {
  if (std::filesystem::exists(to))
    throw InputError(fmt::format("'{}' exists; give the name of a new file, or remove it", to));
  const std::string beside = to + ".part";
  std::vector<Recoded> list;
  try {
    list = Copy(from, beside, recode).run();
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
  return written(from, to,
                 [&](const Dataset& set, Group& out, hid_t in_file, hid_t out_file, std::vector<Recoded>& list) {
                   return encode(set, out, compress, fewest, in_file, out_file, list);
                 });
}

std::vector<Recoded> decompress_file(const std::string& from, const std::string& to) {
  const Entered entered;
  auto list =
      written(from, to, [](const Dataset& set, Group& out, hid_t in_file, hid_t out_file, std::vector<Recoded>& l) {
        return decode(set, out, in_file, out_file, l);
      });
  if (!list.empty()) return list;
  std::filesystem::remove(to);
  throw InputError(
      fmt::format("'{}' holds nothing that Cambium compressed; every program with HDF5 reads it as it is", from));
}

}  // namespace cambium::io
