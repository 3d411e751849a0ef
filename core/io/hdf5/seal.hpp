#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/hdf5/h5.hpp"
#include "core/parallel/comm.hpp"

namespace cambium::io {

/// A checksum of an entire file, in 32 bytes appended to it. HDF5 readers ignore bytes after the end-of-file address,
/// and programs that change the file through HDF5 truncate them; any other change is detected.
enum class Seal {
  absent,  ///< written by an earlier version, or changed through HDF5 since
  sound,
  broken  ///< the bytes are not those that were written
};

/// Collective: appends the checksum to a finished file, which all ranks can read. Each rank reads a part. InputError,
/// on every rank, if the disk fails; it calls the file `named`.
void seal(const std::string& path, const std::string& named, const Comm& comm);
/// The same by one rank.
void seal(const std::string& path, const std::string& named);

/// The same for a file that is still in memory: `file` grows by the checksum.
void seal(std::vector<char>& file);

/// Collective. A missing file, or one that is not a regular file, has no checksum.
Seal seal_of(const std::string& path, const Comm& comm);

/// The same by one rank.
Seal seal_of(const std::string& path);

/// InputError if the checksum of a file is wrong.
void require_unbroken(const std::string& path);

/// A text with its checksum as its last line, a comment (#) of fixed length.
std::string sealed_text(std::string text);
Seal seal_of_text(std::string_view text);

/// write_h5_atomically() with a seal.
void write_sealed_h5(const std::string& path, const std::function<void(File&)>& fill);

}  // namespace cambium::io
