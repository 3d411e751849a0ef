#pragma once
#include <string>

namespace cambium::io {

/// InputError when the bytes of a model file are not those that were written. True when they were compared with their
/// checksum, which stands behind the end of an HDF5 file and in the last line of a .yaml (core/io/hdf5/seal.hpp);
/// false when the file has none or is not there.
bool require_sound_model(const std::string& path);

/// Warning about a model without a checksum.
std::string no_checksum_note(const std::string& path);

}  // namespace cambium::io
