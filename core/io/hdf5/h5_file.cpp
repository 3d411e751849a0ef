#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/base/error.hpp"
#include "core/base/recorder.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/foreign.hpp"
#include "core/io/hdf5/h5_disk.hpp"
#include "core/io/hdf5/h5_internal.hpp"
#include "core/io/hdf5/probe.hpp"
#include "core/io/hdf5/seal.hpp"

namespace cambium::io {

using namespace detail;

namespace {

/// Closing a file closes all its open objects, except in files that are read: HDF5 opens the parts of virtual data sets
/// with the other close degree and silently treats a part that is open here with this one as missing. Locks are off
/// because many shared file systems have none, and so that files of a running simulation can be opened.
Handle access_properties(H5F_close_degree_t degree = H5F_CLOSE_STRONG, bool locks = false) {
  start_hdf5();
  Handle access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_fclose_degree(access.id(), degree);
  use_disk_driver(access.id());
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 11, 0))
  if (!locks) H5Pset_file_locking(access.id(), false, true);
#endif
  (void)locks;
  return access;
}

/// Facts about a file before HDF5 tries:
void require_hdf5(const std::string& path) {
  const Entered entered;
  start_hdf5();
  struct stat status {};
  if (stat(path.c_str(), &status) != 0)
    throw InputError(fmt::format(
        "cannot open '{}': {}; check the path (relative paths start at the folder where the program was started)", path,
        errno == ENOENT ? "there is no such file" : std::strerror(errno)));
  if (S_ISDIR(status.st_mode))
    throw InputError(fmt::format("cannot open '{}': it is {}", path, foreign_folder(path, "an HDF5 file")));
  std::ifstream in(path, std::ios::binary);
  if (!in) throw InputError(fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  if (H5Fis_hdf5(path.c_str()) > 0) return;
  H5Eclear2(H5E_DEFAULT);
  std::string begin(40, '\0');
  in.read(begin.data(), 40);
  begin.resize(in.gcount());
  if (const auto other = foreign_format(path, begin); !other.empty())
    throw InputError(fmt::format("cannot open '{}': it is {}", path, other));
  begin = begin.substr(0, begin.find_first_of("\r\n"));
  std::string seen =
      status.st_size == 0 ? "it is empty" : fmt::format("its {} bytes do not begin as an HDF5 file", status.st_size);
  const bool readable =
      begin.size() > 3 && std::all_of(begin.begin(), begin.end(), [](char c) { return c >= 32 && c < 127; });
  if (readable) seen += fmt::format(" but with '{}'", begin);
  throw InputError(
      fmt::format("cannot open '{}': it is not an HDF5 file or is truncated ({}); copy it again from its source or "
                  "name another file",
                  path, seen));
}

/// The reason why HDF5 did not open a file that begins like one.
[[noreturn]] void refuse(const std::string& path, const std::string& why = cause()) {
  unsigned long long found = 0, base = 0, expected = 0;
  if (std::sscanf(why.c_str(), "truncated file: eof = %llu, sblock->base_addr = %llu, stored_eof = %llu", &found, &base,
                  &expected) == 3)
    throw InputError(
        fmt::format("cannot open '{}': it is truncated ({} bytes found, {} expected); copy it again from its source or "
                    "name another file",
                    path, found, base + expected));
  throw InputError(fmt::format("cannot open '{}': {}; copy it again from its source or name another file", path, why));
}

/// Checks the checksum of files that this process does not know, or opens them in another process first. Every rank may
/// call this: for large files the readers compare the checksum together.
void require_sound_file(const std::string& path) {
  require_hdf5(path);
  if (is_trusted_file(path)) return;
  constexpr off_t large = off_t{1} << 30;
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && status.st_size < large) require_unbroken(path);
  probe_hdf5({path});
}

}  // namespace

File File::open(const std::string& path, Reads reads) {
  require_sound_file(path);
  const Entered entered;
  // Files open in this process are opened again in the same way only: by ourselves to read, to write, or by HDF5 as a
  // part of a virtual data set.
  std::string why;
  for (const auto& [degree, locks] :
       {std::pair{H5F_CLOSE_WEAK, false}, {H5F_CLOSE_STRONG, false}, {H5F_CLOSE_WEAK, true}}) {
    const Handle access = access_properties(degree, locks);
    if (reads == Reads::exact) H5Pset_sieve_buf_size(access.id(), 1);
    const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id());
    if (id >= 0) return File(Handle(id), path, "/");
    why = cause();
    if (why.find("match") == std::string::npos) break;
  }
  refuse(path, why);
}

File File::append(const std::string& path) {
  require_sound_file(path);
  const Entered entered;
  const Handle access = access_properties();
  const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDWR, access.id());
  if (id < 0) refuse(path);
  return File(Handle(id), path, "/");
}

File File::create(const std::string& path, const std::string& shown) {
  const Entered entered;
  const Handle access = access_properties();
  const hid_t id = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id());
  if (id < 0)
    throw InputError(fmt::format("cannot make the file '{}': {}; choose a folder that exists and that you may write to",
                                 shown.empty() ? path : shown, cause()));
  return File(Handle(id), shown.empty() ? path : shown, "/");
}

File File::in_memory(const std::string& name) {
  const Entered entered;
  const Handle access = access_properties();
  H5Pset_fapl_core(access.id(), 1 << 16, false);
  return File(checked(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), "make", name, "/"), name, "/");
}

File File::open_collective(const std::string& path, const Comm& comm) {
  const Entered entered;
#ifdef H5_HAVE_PARALLEL
  const Handle access = access_properties();
  H5Pset_fapl_mpio(access.id(), comm.handle(), MPI_INFO_NULL);
  const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDWR, access.id());
  if (id < 0) refuse(path);
  return File(Handle(id), path, "/");
#else
  (void)comm;
  throw InputError(
      fmt::format("cannot write '{}' collectively: this build has HDF5 {} without MPI; set `checkpoint.transfer: "
                  "gather` or build with a parallel HDF5",
                  path, hdf5_version()));
#endif
}

void File::flush() {
  const Region region("HDF5: flush", WorkKind::files);
  const Entered entered;
  checked_status(H5Fflush(handle_.id(), H5F_SCOPE_GLOBAL), "write", file_, "/");
  const std::string lost = disk_failure(handle_.id());
  if (!lost.empty()) refuse_write(file_, lost);
}

/// For a file that this process may write; empty for others.
static std::string name_where_written(hid_t file) {
  unsigned how = 0;
  if (H5Fget_intent(file, &how) < 0 || !(how & H5F_ACC_RDWR)) return {};
  std::string name(static_cast<std::size_t>(std::max<ssize_t>(H5Fget_name(file, nullptr, 0), 0)) + 1, '\0');
  H5Fget_name(file, name.data(), name.size());
  name.resize(name.size() - 1);
  return name;
}

void File::close() {
  const Region region("HDF5: close", WorkKind::files);
  const Entered entered;
  if (!handle_) return;
  flush();
  const hid_t id = handle_.id();
  const std::string written = name_where_written(id);
  H5Iinc_ref(id);  // the handle's own reference is released below, so that a failed close is detected here
  handle_ = Handle();
  checked_status(H5Fclose(id), "close", file_, "/");
  if (!written.empty()) trust_file(written);
}

}  // namespace cambium::io
