#pragma once
#include <string>

namespace cambium::io {

/// Describes a file of another format, by its first line or bytes, and how to convert it to HDF5, as the rest of a
/// sentence that begins with "it is"; empty if unknown.
std::string foreign_format(const std::string& path, const std::string& begin);

/// The same for a folder: a Zarr store, or another one, in which the file `inside` must be given.
std::string foreign_folder(const std::string& path, const std::string& inside);

}  // namespace cambium::io
