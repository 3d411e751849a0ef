#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/io/npy.hpp"

namespace cambium::graph {

/// Arrays of a `.npz` file, as numpy.savez and numpy.savez_compressed write it: a ZIP archive of `.npy` files, each
/// stored or compressed by DEFLATE (PKWARE's APPNOTE.TXT 6.3; RFC 1951). InputError naming the file and the array for
/// what is damaged, larger than 4 GiB, or compressed where Cambium was built without zlib.
class Npz {
 public:
  explicit Npz(const std::string& path);
  const std::string& file() const { return path_; }
  bool exists(const std::string& name) const { return entries_.count(name) > 0; }
  std::vector<std::string> names() const;
  io::NpyArray read(const std::string& name) const;

 private:
  struct Entry {
    int method = 0;
    std::uint32_t check = 0;  ///< CRC-32 of the bytes
    std::uint64_t packed = 0, bytes = 0, header = 0;
  };
  std::string bytes_of(const Entry& entry, const std::string& name) const;

  std::string path_;
  std::map<std::string, Entry> entries_;  ///< by name, without ".npy"
};

/// Whether a file is to be read as an Npz, by its name.
bool is_npz(const std::string& path);

}  // namespace cambium::graph
