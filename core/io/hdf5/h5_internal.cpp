#include "core/io/hdf5/h5_internal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/base/error.hpp"
#include "core/io/hdf5/filter.hpp"

namespace cambium::io {

std::string hdf5_version() {
  const detail::Entered entered;
  detail::start_hdf5();
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

bool hdf5_is_parallel() {
#ifdef H5_HAVE_PARALLEL
  return true;
#else
  return false;
#endif
}

Handle::Handle(const Handle& other) : id_(other.id_) {
  const detail::Entered entered;
  if (id_ >= 0) H5Iinc_ref(id_);
}

Handle& Handle::operator=(Handle other) noexcept {
  std::swap(id_, other.id_);
  return *this;
}

// Closing a file closes all objects opened through it, so an identifier may be invalid already; HDF5 never reuses one.
Handle::~Handle() {
  if (id_ < 0) return;
  const detail::Entered entered;
  if (H5Iis_valid(id_) > 0) H5Idec_ref(id_);
}

namespace detail {

std::recursive_mutex& Entered::mutex() {
  static std::recursive_mutex one;
  return one;
}

void start_hdf5() {
  const Entered entered;
  static const bool once = [] {
    // Many shared file systems have no locks. The access property of an open file disables them, too, but HDF5 does not
    // pass it to the parts of a virtual data set, and refuses one that is open here in another way: it silently counts
    // as missing.
    setenv("HDF5_USE_FILE_LOCKING", "FALSE", 0);
    H5open();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    H5Zregister(&lossy_filter);
    return true;
  }();
  (void)once;
}

std::string cause() {
  std::string text;
  auto innermost = [](unsigned n, const H5E_error2_t* error, void* out) -> herr_t {
    if (n == 0 && error->desc) *static_cast<std::string*>(out) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, &text);
  H5Eclear2(H5E_DEFAULT);
  // "unable to write file: name = .., errno = 28, error message = 'No space left on device', buf = ..": keep the words.
  const auto begin = text.find("error message = '");
  if (begin != std::string::npos) {
    const auto from = begin + std::strlen("error message = '");
    text = text.substr(from, text.find('\'', from) - from);
  }
  if (text == "filter returned failure during read")
    text =
        "a compressed chunk is damaged, or the file's description of its filter is; copy the file again from its "
        "source";
  // HDF5 searches for the library of an unknown filter, and may fail at the plugin folder.
  if (text.find("required filter") != std::string::npos || text.find("can't open directory") != std::string::npos)
    text = "the filter that it was packed with is not here (" + text +
           "); name the folder of the filter's library in HDF5_PLUGIN_PATH, or let the program that wrote the file "
           "unpack it; what Cambium compressed becomes a plain file with `cambium decompress`";
  return text.empty() ? "HDF5 gave no reason" : text;
}

void fail(const std::string& action, const std::string& file, const std::string& path) {
  throw InputError(fmt::format("cannot {} '{}' in '{}': {}", action, path, file, cause()));
}

namespace {
/// bfloat16 as HDF5 describes it: the upper half of an IEEE single.
hid_t bf16_type() {
  const hid_t type = H5Tcopy(H5T_NATIVE_FLOAT);
  H5Tset_fields(type, 15, 7, 8, 0, 7);
  H5Tset_precision(type, 16);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, 127);
  return type;
}
}  // namespace

Handle type_of(DType type) {
  const Entered entered;
  start_hdf5();
  switch (type) {
    case DType::f64:
      return Handle(H5Tcopy(H5T_NATIVE_DOUBLE));
    case DType::f32:
      return Handle(H5Tcopy(H5T_NATIVE_FLOAT));
    case DType::bf16:
      return Handle(bf16_type());
    case DType::i64:
      return Handle(H5Tcopy(H5T_NATIVE_INT64));
    case DType::i32:
      return Handle(H5Tcopy(H5T_NATIVE_INT32));
    case DType::u32:
      return Handle(H5Tcopy(H5T_NATIVE_UINT32));
    case DType::i8:
      return Handle(H5Tcopy(H5T_NATIVE_INT8));
    case DType::u8:
      return Handle(H5Tcopy(H5T_NATIVE_UINT8));
  }
  throw InternalError("DType without an HDF5 type");
}

Handle text_type() {
  const Entered entered;
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return Handle(type);
}

Handle scalar_space() {
  const Entered entered;
  return Handle(H5Screate(H5S_SCALAR));
}

Handle space_of(const TensorRef& t) {
  const Entered entered;
  if (t.rank == 0) return scalar_space();
  hsize_t extent[6];
  for (int k = 0; k < t.rank; ++k) extent[k] = static_cast<hsize_t>(t.shape[k]);
  return Handle(H5Screate_simple(t.rank, extent, nullptr));
}

Packed::Packed(const TensorRef& t) : source_(t.data) {
  if (t.space != Space::host) throw InternalError("an HDF5 file was given device memory: copy it to the host first");
  if (t.contiguous() || t.elements() == 0) return;
  const std::int64_t size = size_of(t.dtype);
  copy_.resize(t.elements() * size);
  std::int64_t index[6] = {};
  for (std::int64_t n = 0; n < t.elements(); ++n) {
    std::int64_t offset = 0;
    for (int k = 0; k < t.rank; ++k) offset += index[k] * t.stride[k];
    std::memcpy(copy_.data() + n * size, static_cast<const char*>(t.data) + offset * size, size);
    for (int k = t.rank - 1; k >= 0 && ++index[k] == t.shape[k]; --k) index[k] = 0;
  }
}

namespace {

std::string described_compound(hid_t type) {
  std::vector<std::string> names;
  const int n = std::max(H5Tget_nmembers(type), 0);
  bool real = n == 2;
  for (int k = 0; k < n; ++k) {
    char* const name = H5Tget_member_name(type, static_cast<unsigned>(k));
    names.emplace_back(name ? name : "?");
    H5free_memory(name);
    real = real && H5Tget_member_class(type, static_cast<unsigned>(k)) == H5T_FLOAT;
  }
  if (real && (names[0] == "r" || names[0] == "real" || names[0] == "re") && names[1].starts_with('i'))
    return fmt::format("complex numbers (a compound type of '{}' and '{}')", names[0], names[1]);
  constexpr std::size_t most = 6;
  const bool more = names.size() > most;
  names.resize(std::min(names.size(), most));
  return fmt::format("a compound type of '{}'{}", fmt::join(names, "', '"), more ? " and more" : "");
}

std::string described_array(hid_t type) {
  hsize_t extent[H5S_MAX_RANK];
  const int rank = std::max(H5Tget_array_dims2(type, extent), 0);
  return fmt::format("an array type, ({}) of {} in each element", fmt::join(extent, extent + rank, ", "),
                     describe_type(Handle(H5Tget_super(type)).id()));
}

std::string described_opaque(hid_t type) {
  char* const tag = H5Tget_tag(type);
  const std::string text = tag ? tag : "";
  H5free_memory(tag);
  return fmt::format("opaque bytes{}", text.empty() ? "" : fmt::format(" (tag '{}')", text));
}

}  // namespace

std::string describe_type(hid_t type) {
  const Entered entered;
  const auto bits = 8 * H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return fmt::format("{}-bit {}integer", bits, H5Tget_sign(type) == H5T_SGN_NONE ? "unsigned " : "");
    case H5T_FLOAT:
      return fmt::format("{}-bit floating point", bits);
    case H5T_STRING:
      return "text";
    case H5T_COMPOUND:
      return described_compound(type);
    case H5T_ENUM:
      return "an enumeration";
    case H5T_OPAQUE:
      return described_opaque(type);
    case H5T_BITFIELD:
      return fmt::format("a {}-bit bit field", bits);
    case H5T_REFERENCE:
      return H5Tequal(type, H5T_STD_REF_DSETREG) > 0 ? "references to regions of data sets" : "references to objects";
    case H5T_VLEN:
      return fmt::format("rows of varying length, of {}", describe_type(Handle(H5Tget_super(type)).id()));
    case H5T_ARRAY:
      return described_array(type);
    case H5T_TIME:
      return "the type 'time' of HDF5";
    default:
      return "a type that Cambium does not read";
  }
}

}  // namespace detail
}  // namespace cambium::io
