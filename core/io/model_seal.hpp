#pragma once
#include <string>

namespace cambium::io {

/// InputError if the bytes of a model file are not those that were written. True if they were compared with their
/// checksum, which is at the end of an HDF5 file and in the last line of a .yaml (core/io/hdf5/seal.hpp); false if the
/// file has none or does not exist.
bool require_sound_model(const std::string& path);

/// Warning about a model without a checksum.
std::string no_checksum_note(const std::string& path);

}  // namespace cambium::io
