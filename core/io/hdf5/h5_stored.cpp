#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5_parts.hpp"

namespace cambium::io::detail {
namespace fs = std::filesystem;
namespace {

/// The name of an external file as HDF5 opens it.
std::string external_place(const std::string& name, const std::string& file) {
  const char* given = std::getenv("HDF5_EXTFILE_PREFIX");
  if (name.starts_with('/') || !given || !*given) return name;
  std::string prefix = given;
  constexpr std::string_view origin = "${ORIGIN}";
  if (prefix.starts_with(origin)) prefix = folder_of(fs::absolute(file).string()) + prefix.substr(origin.size());
  return (fs::path(prefix) / name).string();
}

/// Names of filters registered with the HDF Group, for files that do not store them.
std::string known_filter(H5Z_filter_t id) {
  static const std::map<H5Z_filter_t, const char*> names{{H5Z_FILTER_DEFLATE, "deflate"},
                                                         {H5Z_FILTER_SZIP, "szip"},
                                                         {305, "lzo"},
                                                         {307, "bzip2"},
                                                         {32000, "lzf"},
                                                         {32001, "blosc"},
                                                         {32004, "lz4"},
                                                         {32008, "bitshuffle"},
                                                         {32013, "zfp"},
                                                         {32015, "zstd"},
                                                         {32017, "sz"},
                                                         {32022, "granular bitround"},
                                                         {32024, "sz3"},
                                                         {32026, "blosc2"},
                                                         {32028, "htj2k"}};
  const auto found = names.find(id);
  return found == names.end() ? "" : found->second;
}

/// True if the first chunk was stored without this filter, as happens with optional ones that gain nothing.
bool left_out(const Handle& set, int which) {
#if H5_VERSION_GE(1, 10, 5)
  const Handle space(H5Dget_space(set.id()));
  hsize_t offset[H5S_MAX_RANK], bytes = 0;
  haddr_t address = 0;
  unsigned mask = 0;
  if (H5Dget_chunk_info(set.id(), space.id(), 0, offset, &mask, &address, &bytes) >= 0) return mask >> which & 1u;
  H5Eclear2(H5E_DEFAULT);
#endif
  return false;
}

}  // namespace

void require_external(const Handle& set, hid_t properties, const std::string& file, const std::string& path) {
  const int count = H5Pget_external_count(properties);
  if (count < 1) return;
  const Handle space(H5Dget_space(set.id())), type(H5Dget_type(set.id()));
  const auto points = std::max<hssize_t>(H5Sget_simple_extent_npoints(space.id()), 0);
  auto left = static_cast<hsize_t>(points) * H5Tget_size(type.id());
  for (int k = 0; k < count && left > 0; ++k) {
    std::string name(4096, '\0');
    off_t offset = 0;
    hsize_t size = 0;
    checked_status(H5Pget_external(properties, static_cast<unsigned>(k), name.size() - 1, name.data(), &offset, &size),
                   "read the external files of", file, path);
    name.resize(name.find('\0'));
    const hsize_t bytes = std::min(left, size);
    const std::string place = external_place(name, file);
    struct stat status {};
    if (stat(place.c_str(), &status) != 0)
      throw InputError(
          fmt::format("the values of '{}' in '{}' are stored in another file, '{}', which is not there; put it back. A "
                      "relative name counts from the folder where the program was started; with "
                      "HDF5_EXTFILE_PREFIX='${{ORIGIN}}' from that of the HDF5 file",
                      path, file, place));
    const auto there = static_cast<hsize_t>(std::max<off_t>(status.st_size - offset, 0));
    if (there < bytes)
      throw InputError(
          fmt::format("the values of '{}' in '{}' are stored in another file, '{}', which holds {} bytes of {}: HDF5 "
                      "would give zeros for the others; copy it again from its source",
                      path, file, place, there, bytes));
    left -= bytes;
  }
}

void require_filters(const Handle& set, hid_t properties, const std::string& file, const std::string& path) {
  const int count = H5Pget_nfilters(properties);
  if (count < 1 || H5Dget_storage_size(set.id()) == 0) return;
  for (int k = 0; k < count; ++k) {
    unsigned flags = 0, how = 0;
    std::size_t values = 0;
    char name[128] = "";
    const auto id =
        H5Pget_filter2(properties, static_cast<unsigned>(k), &flags, &values, nullptr, sizeof name - 1, name, nullptr);
    checked_status(id < 0 ? -1 : 0, "read the filters of", file, path);
    const bool there = H5Zfilter_avail(id) > 0;
    if (there && (H5Zget_filter_info(id, &how) < 0 || (how & H5Z_FILTER_CONFIG_DECODE_ENABLED))) continue;
    H5Eclear2(H5E_DEFAULT);
    if ((flags & H5Z_FLAG_OPTIONAL) && left_out(set, k)) continue;
    std::string called = known_filter(id).empty() ? std::string(name) : known_filter(id);
    if (const auto end = called.find(';'); end != std::string::npos) called.resize(end);
    throw InputError(
        fmt::format("'{}' in '{}' was compressed by the filter {}{}, which this HDF5 has not; name the folder of the "
                    "filter's library in HDF5_PLUGIN_PATH (in Python: hdf5plugin.PLUGINS_PATH), or write the file "
                    "without it where it can be read: h5repack -f NONE",
                    path, file, id, called.empty() ? "" : fmt::format(" ({})", called)));
  }
}

}  // namespace cambium::io::detail
