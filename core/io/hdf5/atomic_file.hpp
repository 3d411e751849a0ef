#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "core/io/hdf5/h5.hpp"

namespace cambium::io {

/// The InputError of a disk that takes no more data, with its fix.
[[noreturn]] void refuse_write(const std::string& path, const std::string& reason);

/// A file that appears under its name completely or not at all: it is written as `<path>.part` in the same folder,
/// synced and renamed. Until commit() an older file of that name is kept; without commit() the part is removed.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::string& part() const { return part_; }  ///< write here
  /// fsync, rename, fsync of the folder. InputError when the disk refuses.
  void commit();

 private:
  std::string path_, part_;
  bool committed_ = false;
};

/// Writes a text file through AtomicFile. InputError names the file, the reason and the fix.
void write_file_atomically(const std::string& path, std::string_view text);

/// Fills a new HDF5 file through AtomicFile. InputError names the file, the reason and the fix.
void write_h5_atomically(const std::string& path, const std::function<void(File&)>& fill);

}  // namespace cambium::io
