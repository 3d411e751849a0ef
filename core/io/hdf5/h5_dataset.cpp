#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/base/error.hpp"
#include "core/base/recorder.hpp"
#include "core/io/hdf5/filter.hpp"
#include "core/io/hdf5/h5_internal.hpp"

namespace cambium::io {
namespace detail {
namespace {

Handle space_of_place(const Place& p) {
  return Handle(p.attribute ? H5Aget_space(p.handle.id()) : H5Dget_space(p.handle.id()));
}
Handle type_of_place(const Place& p) {
  return Handle(p.attribute ? H5Aget_type(p.handle.id()) : H5Dget_type(p.handle.id()));
}
herr_t read_place(const Place& p, hid_t type, void* out, hid_t transfer = H5P_DEFAULT) {
  return p.attribute ? H5Aread(p.handle.id(), type, out)
                     : H5Dread(p.handle.id(), type, H5S_ALL, H5S_ALL, transfer, out);
}

}  // namespace

/// FALSE and TRUE as numpy writes them: an enumeration of two members over an integer of 8 bits.
static bool is_boolean(hid_t type) {
  return H5Tget_class(type) == H5T_ENUM && H5Tget_size(type) == 1 && H5Tget_nmembers(type) == 2;
}

/// Numeric data only; integers are read only from integers that the C++ type can hold, and from booleans as 0 and 1.
void require_numbers(const Handle& found, DType wanted, const std::string& file, const std::string& path) {
  const H5T_class_t kind = H5Tget_class(found.id());
  const bool real = wanted == DType::f64 || wanted == DType::f32 || wanted == DType::bf16;
  if (kind == H5T_INTEGER || (kind == H5T_FLOAT && real) || is_boolean(found.id())) return;
  const bool other = kind != H5T_FLOAT && kind != H5T_STRING && kind != H5T_ENUM;
  throw InputError(fmt::format("'{}' in '{}' is {}, expected {}{}", path, file, describe_type(found.id()),
                               real ? "numbers" : "integers",
                               other ? "; write its values as an array of their own" : ""));
}

namespace {

/// Saturation value of HDF5 for integers outside the range of the other signedness: the largest, or 0.
template <class T>
bool holds_limit(const TensorRef& t, bool largest) {
  const T* const values = static_cast<const T*>(t.data);
  return std::find(values, values + t.elements(), largest ? std::numeric_limits<T>::max() : T{0}) !=
         values + t.elements();
}

bool holds_limit(const TensorRef& t) {
  switch (t.dtype) {
    case DType::i64:
      return holds_limit<std::int64_t>(t, true);
    case DType::i32:
      return holds_limit<std::int32_t>(t, true);
    case DType::i8:
      return holds_limit<std::int8_t>(t, true);
    case DType::u32:
      return holds_limit<std::uint32_t>(t, false);
    case DType::u8:
      return holds_limit<std::uint8_t>(t, false);
    default:
      return false;
  }
}

[[noreturn]] void refuse_numbers(hid_t found, hid_t memory, const std::string& file, const std::string& path) {
  const auto bits = 8 * H5Tget_size(memory);
  if (H5Tget_sign(found) == H5Tget_sign(memory))
    throw InputError(
        fmt::format("'{}' in '{}' holds {}s that do not fit {} bits", path, file, describe_type(found), bits));
  const bool to_signed = H5Tget_sign(memory) != H5T_SGN_NONE;
  throw InputError(fmt::format("'{}' in '{}' holds {}s{} that {} of {} bits cannot hold; store them as {}", path, file,
                               describe_type(found), to_signed ? fmt::format(" beyond 2^{} - 1", bits - 1) : " below 0",
                               to_signed ? "signed ones" : "unsigned ones", bits,
                               to_signed ? "float64, or less an offset" : "signed integers"));
}

/// Converts the values read back to the file's type and compares: saturated ones differ.
void require_same(const std::vector<char>& original, const void* read, std::size_t n, hid_t found, hid_t memory,
                  const std::string& file, const std::string& path) {
  const std::size_t size = H5Tget_size(found), read_size = H5Tget_size(memory);
  std::vector<char> back(n * std::max(size, read_size));
  std::copy_n(static_cast<const char*>(read), n * read_size, back.data());
  checked_status(H5Tconvert(memory, found, n, back.data(), nullptr, H5P_DEFAULT), "read", file, path);
  if (!std::equal(original.begin(), original.end(), back.begin())) refuse_numbers(found, memory, file, path);
}

}  // namespace

std::vector<std::int64_t> shape_of_space(const Handle& space) {
  const Entered entered;
  hsize_t extent[H5S_MAX_RANK];
  const int rank = H5Sget_simple_extent_dims(space.id(), extent, nullptr);
  return {extent, extent + std::max(rank, 0)};
}

std::vector<std::int64_t> shape_of(const Place& p) {
  const Entered entered;
  return shape_of_space(space_of_place(p));
}

void require_one_value(const Place& p) {
  const Entered entered;
  const Handle space = space_of_place(p);
  const hssize_t n = H5Sget_simple_extent_npoints(space.id());
  if (n == 1) return;
  throw InputError(fmt::format("'{}' in '{}' holds {} values of shape ({}), expected one value", p.path, p.file, n,
                               fmt::join(shape_of_space(space), ", ")));
}

/// HDF5 saturates out-of-range values; a wrong value is worse than an error.
void read_numbers(const Place& p, DType wanted, void* out) {
  const Entered entered;
  const Handle found = type_of_place(p);
  require_numbers(found, wanted, p.file, p.path);
  const auto shape = shape_of(p);
  const std::int64_t n = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  if (n == 0) return;
  const Region region("HDF5: read", WorkKind::files, {.bytes = static_cast<double>(n * size_of(wanted))});
  const Handle memory = type_of(wanted);
  const bool shrinks =
      H5Tget_class(found.id()) == H5T_INTEGER && H5Tget_class(memory.id()) == H5T_INTEGER &&
      (H5Tget_size(found.id()) > H5Tget_size(memory.id()) || H5Tget_sign(found.id()) != H5Tget_sign(memory.id()));
  checked_status(read_place(p, memory.id(), out), "read", p.file, p.path);
  if (!shrinks) return;
  std::vector<char> original(static_cast<std::size_t>(n) * H5Tget_size(found.id()));
  checked_status(read_place(p, found.id(), original.data()), "read", p.file, p.path);
  require_same(original, out, static_cast<std::size_t>(n), found.id(), memory.id(), p.file, p.path);
}

std::vector<std::string> read_strings(const Place& p) {
  const Entered entered;
  const Handle found = type_of_place(p), space = space_of_place(p);
  if (H5Tget_class(found.id()) != H5T_STRING)
    throw InputError(fmt::format("'{}' in '{}' is {}, expected text", p.path, p.file, describe_type(found.id())));
  const auto n = static_cast<std::size_t>(std::max<hssize_t>(H5Sget_simple_extent_npoints(space.id()), 0));
  std::vector<std::string> out(n);
  if (n == 0) return out;
  if (H5Tis_variable_str(found.id()) > 0) {
    std::vector<char*> pointers(n, nullptr);
    const Handle memory(H5Tcopy(found.id()));
    checked_status(read_place(p, memory.id(), pointers.data()), "read", p.file, p.path);
    for (std::size_t k = 0; k < n; ++k) out[k] = pointers[k] ? pointers[k] : "";
    H5Dvlen_reclaim(memory.id(), space.id(), H5P_DEFAULT, pointers.data());
    return out;
  }
  const std::size_t length = H5Tget_size(found.id());
  std::vector<char> characters(n * length);
  checked_status(read_place(p, found.id(), characters.data()), "read", p.file, p.path);
  for (std::size_t k = 0; k < n; ++k) {
    out[k].assign(characters.data() + k * length, length);
    const auto end = H5Tget_strpad(found.id()) == H5T_STR_SPACEPAD ? out[k].find_last_not_of(' ') + 1
                                                                   : std::min(out[k].find('\0'), length);
    out[k].resize(end);
  }
  return out;
}

}  // namespace detail

using namespace detail;

std::vector<std::int64_t> Dataset::shape() const {
  const Entered entered;
  return shape_of(place());
}

std::int64_t Dataset::elements() const {
  std::int64_t n = 1;
  for (auto extent : shape()) n *= extent;
  return n;
}

std::vector<std::int64_t> Dataset::chunk() const {
  const Entered entered;
  const Handle properties(H5Dget_create_plist(handle_.id()));
  if (H5Pget_layout(properties.id()) != H5D_CHUNKED) return {};
  hsize_t extent[H5S_MAX_RANK];
  const int rank = H5Pget_chunk(properties.id(), H5S_MAX_RANK, extent);
  return {extent, extent + std::max(rank, 0)};
}

std::int64_t Dataset::stored_bytes() const {
  const Entered entered;
  return static_cast<std::int64_t>(H5Dget_storage_size(handle_.id()));
}

bool Dataset::is_text() const {
  const Entered entered;
  return H5Tget_class(Handle(H5Dget_type(handle_.id())).id()) == H5T_STRING;
}

/// Type into which values of other types are read: those of 16 bits, booleans and other enumerations without loss;
/// unsigned 64-bit ones up to 2^63 - 1, and those of more than 64 bits are rounded.
static std::optional<DType> wider_type(hid_t type) {
  const std::size_t size = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      if (size == 2) return DType::i32;
      if (size == 8) return DType::i64;  // unsigned ones
      return {};
    case H5T_FLOAT:
      return size == 2 ? DType::f32 : size > 8 ? std::optional(DType::f64) : std::nullopt;
    case H5T_ENUM:
      return size <= 4 ? std::optional(DType::i32) : std::nullopt;
    default:
      return {};
  }
}

DType Dataset::dtype() const {
  const Entered entered;
  const Handle type(H5Dget_type(handle_.id()));
  for (auto candidate :
       {DType::f64, DType::f32, DType::bf16, DType::i64, DType::i32, DType::u32, DType::i8, DType::u8}) {
    const Handle ours = type_of(candidate);
    if (H5Tget_class(ours.id()) != H5Tget_class(type.id()) || H5Tget_size(ours.id()) != H5Tget_size(type.id()))
      continue;
    if (H5Tget_class(type.id()) == H5T_INTEGER && H5Tget_sign(ours.id()) != H5Tget_sign(type.id())) continue;
    if (H5Tget_class(type.id()) == H5T_FLOAT && H5Tget_ebias(ours.id()) != H5Tget_ebias(type.id())) continue;
    return candidate;
  }
  if (const auto wider = wider_type(type.id())) return *wider;
  throw InputError(fmt::format("'{}' in '{}' is {}, expected numbers; store it as float64, float32 or whole numbers",
                               path_, file_, describe_type(type.id())));
}

void Dataset::read_into(const TensorRef& out) const {
  const Entered entered;
  const std::vector<std::int64_t> start(shape().size(), 0);
  if (shape() != std::vector<std::int64_t>(out.shape, out.shape + out.rank))
    throw InputError(fmt::format("'{}' in '{}' has the shape ({}), expected ({})", path_, file_,
                                 fmt::join(shape(), ", "), fmt::join(out.shape, out.shape + out.rank, ", ")));
  read_block(start, out);
}

namespace {
/// File space with the block [start, start + shape) selected.
Handle select(const Handle& dataset, std::span<const std::int64_t> start, const TensorRef& t, const std::string& file,
              const std::string& path) {
  const Entered entered;
  Handle space(H5Dget_space(dataset.id()));
  const auto extent = shape_of_space(space);
  bool fits = static_cast<int>(extent.size()) == t.rank && static_cast<int>(start.size()) == t.rank;
  for (int k = 0; fits && k < t.rank; ++k) fits = start[k] >= 0 && start[k] + t.shape[k] <= extent[k];
  if (!fits)
    throw InputError(fmt::format("'{}' in '{}' has the shape ({}), which does not hold the block ({}) at ({})", path,
                                 file, fmt::join(extent, ", "), fmt::join(t.shape, t.shape + t.rank, ", "),
                                 fmt::join(start, ", ")));
  if (t.rank == 0) return space;
  if (t.elements() == 0) {
    H5Sselect_none(space.id());
    return space;
  }
  hsize_t from[6], count[6];
  for (int k = 0; k < t.rank; ++k) {
    from[k] = start[k];
    count[k] = t.shape[k];
  }
  checked_status(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, from, nullptr, count, nullptr), "select", file, path);
  return space;
}
}  // namespace

void Dataset::read_block(std::span<const std::int64_t> start, const TensorRef& out) const {
  const Entered entered;
  if (!out.contiguous() || out.space != Space::host) throw InternalError("HDF5 reads go to contiguous host memory");
  const Handle type(H5Dget_type(handle_.id()));
  const bool numbered = H5Tget_class(type.id()) == H5T_ENUM && out.dtype == DType::i32;  // consistent with dtype()
  if (!numbered) require_numbers(type, out.dtype, file_, path_);
  if (H5Tget_class(type.id()) == H5T_INTEGER && static_cast<std::int64_t>(H5Tget_size(type.id())) > size_of(out.dtype))
    throw InputError(fmt::format("'{}' in '{}' is {}, expected at most {} bits", path_, file_, describe_type(type.id()),
                                 8 * size_of(out.dtype)));
  const Handle space = select(handle_, start, out, file_, path_), memory = space_of(out);
  if (out.elements() == 0) return;
  const Region region("HDF5: read", WorkKind::files,
                      {.bytes = static_cast<double>(out.elements() * size_of(out.dtype))});
  const Handle wanted = type_of(out.dtype);
  checked_status(H5Dread(handle_.id(), wanted.id(), memory.id(), space.id(), H5P_DEFAULT, out.data), "read", file_,
                 path_);
  const bool whole = H5Tget_class(type.id()) == H5T_INTEGER && H5Tget_class(wanted.id()) == H5T_INTEGER;
  const bool narrower = H5Tget_sign(type.id()) == H5T_SGN_NONE && H5Tget_size(type.id()) < H5Tget_size(wanted.id());
  if (!whole || narrower || H5Tget_sign(type.id()) == H5Tget_sign(wanted.id()) || !holds_limit(out)) return;
  const auto n = static_cast<std::size_t>(out.elements());
  std::vector<char> original(n * H5Tget_size(type.id()));
  checked_status(H5Dread(handle_.id(), type.id(), memory.id(), space.id(), H5P_DEFAULT, original.data()), "read", file_,
                 path_);
  require_same(original, out.data, n, type.id(), wanted.id(), file_, path_);
}

/// A chunk within a bound of error that is written in parts would be decoded and encoded for each of them, and its
/// errors would add up.
static void require_whole_chunks(const Dataset& set, const Handle& handle, std::span<const std::int64_t> start,
                                 const TensorRef& in) {
  const Handle properties(H5Dget_create_plist(handle.id()));
  unsigned flags = 0;
  std::size_t values = 0;
  if (H5Pget_layout(properties.id()) != H5D_CHUNKED ||
      H5Pget_filter_by_id2(properties.id(), lossy_filter_id, &flags, &values, nullptr, 0, nullptr, nullptr) < 0) {
    H5Eclear2(H5E_DEFAULT);
    return;
  }
  const auto chunk = set.chunk();
  for (int k = 0; k < in.rank; ++k)
    if (start[k] % chunk[k] != 0 || in.shape[k] % chunk[k] != 0)
      throw InternalError(fmt::format(
          "'{}' in '{}' is compressed within an error bound: its chunks are written in full", set.path(), set.file()));
}

void Dataset::write_block(std::span<const std::int64_t> start, const TensorRef& in, Transfer transfer) {
  const Entered entered;
  require_whole_chunks(*this, handle_, start, in);
  const Region region("HDF5: write", WorkKind::files,
                      {.bytes = static_cast<double>(in.elements() * size_of(in.dtype))});
  const Handle space = select(handle_, start, in, file_, path_), memory = space_of(in);
  if (in.elements() == 0) H5Sselect_none(memory.id());
  const Handle properties(H5Pcreate(H5P_DATASET_XFER));
#ifdef H5_HAVE_PARALLEL
  if (transfer == Transfer::collective) H5Pset_dxpl_mpio(properties.id(), H5FD_MPIO_COLLECTIVE);
#else
  (void)transfer;
#endif
  const Packed packed(in);
  const char nothing = 0;
  checked_status(H5Dwrite(handle_.id(), type_of(in.dtype).id(), memory.id(), space.id(), properties.id(),
                          in.elements() ? packed.data() : &nothing),
                 "write", file_, path_);
}

void Dataset::append(const TensorRef& row) {
  const Region region("HDF5: append", WorkKind::files);
  TensorRef block = row;
  block.rank = row.rank + 1;
  block.shape[0] = 1;
  block.stride[0] = std::max<std::int64_t>(row.elements(), 1);
  for (int k = 0; k < row.rank; ++k) {
    block.shape[k + 1] = row.shape[k];
    block.stride[k + 1] = row.stride[k];
  }
  std::vector<std::int64_t> start(block.rank, 0);
  start[0] = shape().at(0);
  resize(start[0] + 1);
  write_block(start, block);
}

void Dataset::resize(std::int64_t rows) {
  const Entered entered;
  const auto now = shape();
  std::vector<hsize_t> extent(now.begin(), now.end());
  if (extent.empty()) throw InternalError("a scalar dataset has no rows");
  extent[0] = static_cast<hsize_t>(rows);
  checked_status(H5Dset_extent(handle_.id(), extent.data()), "resize", file_, path_);
}

}  // namespace cambium::io
