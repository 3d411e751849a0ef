#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/io/npy.hpp"
#include "core/io/zip_file.hpp"

namespace cambium::io {

/// Arrays of a `.npz` file, as written by numpy.savez and numpy.savez_compressed: a zip archive of `.npy` files.
/// InputError naming the file and the array for damaged data, or for compressed data if Cambium was built without zlib.
class Npz {
 public:
  /// `what` names the content in messages: "graph".
  Npz(const std::string& path, const std::string& what);
  const std::string& file() const { return zip_.path(); }
  bool exists(const std::string& name) const { return names_.count(name) > 0; }
  std::vector<std::string> names() const;
  NpyArray read(const std::string& name) const;

 private:
  ZipFile zip_;
  std::map<std::string, std::string> names_;  ///< members by array names, without ".npy"
};

/// True if a file is to be read as an Npz, by its name.
bool is_npz(const std::string& path);

}  // namespace cambium::io
