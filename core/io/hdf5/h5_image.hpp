#pragma once
#include <string>
#include <vector>

#include "core/io/hdf5/h5.hpp"

namespace cambium::io {

/// A file created in memory, to be written to disk by other means.
class FileInMemory : public File {
 public:
  /// `name` is that of messages.
  explicit FileInMemory(const std::string& name) : File(File::in_memory(name)) {}
  /// File image as it would be on disk, followed by its checksum (core/io/hdf5/seal.hpp).
  std::vector<char> sealed_image();
};

}  // namespace cambium::io
