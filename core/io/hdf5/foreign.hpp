#pragma once
#include <string>

namespace cambium::io {

/// What a file of another format is, by its first line or bytes, and what makes HDF5 of it, as the rest of a sentence
/// that begins with "it is"; empty for one that is not known.
std::string foreign_format(const std::string& path, const std::string& begin);

/// The same for a folder: a Zarr store, or any other, in which `inside` is to be named.
std::string foreign_folder(const std::string& path, const std::string& inside);

}  // namespace cambium::io
