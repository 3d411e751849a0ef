#include "core/io/hdf5/h5_disk.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <vector>

namespace cambium::io::detail {
namespace {

/// The first member is the one that HDF5 accesses.
struct Disk {
  H5FD_t base{};
  int descriptor = -1;
  haddr_t allocated = 0;  ///< end of the space allocated by HDF5
  haddr_t size = 0;       ///< end of the data in the file, including dropped ones
  dev_t device{};
  ino_t inode{};
  int lost = 0;                               ///< errno of the first refused write
  std::map<haddr_t, std::vector<char>> kept;  ///< pages of metadata that the disk refused, by page number
};

constexpr haddr_t page_bytes = 4096;

Disk& disk_of(H5FD_t* file) { return *reinterpret_cast<Disk*>(file); }
const Disk& disk_of(const H5FD_t* file) { return *reinterpret_cast<const Disk*>(file); }

herr_t complain(hid_t kind, int number) {
  H5Epush2(H5E_DEFAULT, __FILE__, "disk", __LINE__, H5E_ERR_CLS, H5E_IO, kind, "error message = '%s'",
           std::strerror(number));
  return -1;
}

H5FD_t* open_disk(const char* name, unsigned flags, hid_t, haddr_t) {
  int mode = flags & H5F_ACC_RDWR ? O_RDWR : O_RDONLY;
  if (flags & H5F_ACC_TRUNC) mode |= O_TRUNC;
  if (flags & H5F_ACC_CREAT) mode |= O_CREAT;
  if (flags & H5F_ACC_EXCL) mode |= O_EXCL;
  const int descriptor = ::open(name, mode, 0666);
  struct stat status {};
  if (descriptor < 0 || fstat(descriptor, &status) != 0) {
    complain(H5E_CANTOPENFILE, errno);
    if (descriptor >= 0) ::close(descriptor);
    return nullptr;
  }
  auto* disk = new Disk;
  disk->descriptor = descriptor;
  disk->size = static_cast<haddr_t>(status.st_size);
  disk->device = status.st_dev;
  disk->inode = status.st_ino;
  return &disk->base;
}

herr_t close_disk(H5FD_t* file) {
  const int failed = ::close(disk_of(file).descriptor);
  delete &disk_of(file);
  return failed ? complain(H5E_CANTCLOSEFILE, errno) : 0;
}

int compare_disks(const H5FD_t* a, const H5FD_t* b) {
  const Disk &left = disk_of(a), &right = disk_of(b);
  if (left.device != right.device) return left.device < right.device ? -1 : 1;
  return left.inode == right.inode ? 0 : left.inode < right.inode ? -1 : 1;
}

herr_t query_disk(const H5FD_t*, unsigned long* flags) {
  if (flags)
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t allocated_disk(const H5FD_t* file, H5FD_mem_t) { return disk_of(file).allocated; }
herr_t allocate_disk(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  disk_of(file).allocated = address;
  return 0;
}
haddr_t size_disk(const H5FD_t* file, H5FD_mem_t) { return disk_of(file).size; }

herr_t handle_disk(H5FD_t* file, hid_t, void** handle) {
  *handle = file;
  return 0;
}

/// Bytes from the disk; zeros beyond its end, as HDF5 expects. Returns errno.
int read_bytes(const Disk& disk, haddr_t address, std::size_t size, char* to) {
  while (size > 0) {
    const ssize_t got = pread(disk.descriptor, to, size, static_cast<off_t>(address));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) {
      std::memset(to, 0, size);
      return 0;
    }
    to += got;
    address += got;
    size -= got;
  }
  return 0;
}

/// Calls visit(page number, first byte in the page, bytes, offset in the range) for each page that a range touches.
template <class Visit>
void for_pages(haddr_t address, std::size_t size, Visit visit) {
  for (std::size_t done = 0; done < size;) {
    const haddr_t at = address + done, first = at % page_bytes;
    const std::size_t bytes = std::min<std::size_t>(page_bytes - first, size - done);
    visit(at / page_bytes, first, bytes, done);
    done += bytes;
  }
}

herr_t read_disk(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, void* buffer) {
  const Disk& disk = disk_of(file);
  auto* to = static_cast<char*>(buffer);
  if (const int failed = read_bytes(disk, address, size, to)) return complain(H5E_READERROR, failed);
  if (disk.kept.empty()) return 0;
  for_pages(address, size, [&](haddr_t page, haddr_t first, std::size_t bytes, std::size_t done) {
    const auto found = disk.kept.find(page);
    if (found != disk.kept.end()) std::memcpy(to + done, found->second.data() + first, bytes);
  });
  return 0;
}

void keep(Disk& disk, haddr_t address, std::size_t size, const char* from) {
  for_pages(address, size, [&](haddr_t page, haddr_t first, std::size_t bytes, std::size_t done) {
    auto& data = disk.kept[page];
    if (data.empty()) {
      data.resize(page_bytes);
      read_bytes(disk, page * page_bytes, page_bytes, data.data());
    }
    std::memcpy(data.data() + first, from + done, bytes);
  });
}

herr_t write_disk(H5FD_t* file, H5FD_mem_t type, hid_t, haddr_t address, std::size_t size, const void* buffer) {
  Disk& disk = disk_of(file);
  const auto* from = static_cast<const char*>(buffer);
  disk.size = std::max<haddr_t>(disk.size, address + size);
  while (size > 0 && !disk.lost) {
    const ssize_t put = pwrite(disk.descriptor, from, size, static_cast<off_t>(address));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0)
      disk.lost = put < 0 ? errno : ENOSPC;
    else {
      from += put;
      address += put;
      size -= put;
    }
  }
  if (disk.lost && type != H5FD_MEM_DRAW) keep(disk, address, size, from);
  return 0;
}

herr_t truncate_disk(H5FD_t* file, hid_t, hbool_t) {
  Disk& disk = disk_of(file);
  if (disk.size == disk.allocated) return 0;
  if (!disk.lost && ftruncate(disk.descriptor, static_cast<off_t>(disk.allocated)) != 0) disk.lost = errno;
  disk.size = disk.allocated;
  return 0;
}

H5FD_class_t disk_class() {
  H5FD_class_t c{};
#ifdef H5FD_CLASS_VERSION
  c.version = H5FD_CLASS_VERSION;
#endif
#if H5_VERSION_GE(1, 13, 1)
  c.value = static_cast<H5FD_class_value_t>(311);
#endif
  c.name = "cambium_disk";
  c.maxaddr = (static_cast<haddr_t>(1) << 62) - 1;
  c.fc_degree = H5F_CLOSE_STRONG;
  c.open = open_disk;
  c.close = close_disk;
  c.cmp = compare_disks;
  c.query = query_disk;
  c.get_eoa = allocated_disk;
  c.set_eoa = allocate_disk;
  c.get_eof = size_disk;
  c.get_handle = handle_disk;
  c.read = read_disk;
  c.write = write_disk;
  c.truncate = truncate_disk;
  const H5FD_mem_t map[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(map), std::end(map), c.fl_map);
  return c;
}

hid_t driver() {
  static const H5FD_class_t description = disk_class();
  static const hid_t id = H5FDregister(&description);
  return id;
}

}  // namespace

void use_disk_driver(hid_t access_properties) { H5Pset_driver(access_properties, driver(), nullptr); }

std::string disk_failure(hid_t file) {
  const hid_t access = H5Fget_access_plist(file);
  const bool ours = H5Pget_driver(access) == driver();
  H5Pclose(access);
  void* handle = nullptr;
  if (!ours || H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0) return {};
  const int lost = disk_of(static_cast<H5FD_t*>(handle)).lost;
  return lost ? std::strerror(lost) : std::string();
}

}  // namespace cambium::io::detail
