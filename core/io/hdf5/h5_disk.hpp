#pragma once
#include <hdf5.h>

#include <string>

namespace cambium::io::detail {

/// Makes files opened with these access properties survive failed writes. HDF5's own driver leaves a file that it can
/// neither write nor close, and the program crashes at exit. This one always succeeds: metadata that could not be
/// written stay in memory, raw data are dropped, the file closes in good order, and disk_failure() returns the error.
void use_disk_driver(hid_t access_properties);

/// The system's reason why data of this open file were lost; empty if none were.
std::string disk_failure(hid_t file);

}  // namespace cambium::io::detail
