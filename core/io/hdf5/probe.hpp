#pragma once
#include <string>
#include <vector>

namespace cambium::io {

/// Opens HDF5 files of unknown origin in another process first: InputError if the HDF5 library crashes or hangs on one.
/// Files that this process wrote, whose checksum is valid (trust_file()), or that were probed before and have not
/// changed since, cost nothing; others some milliseconds each. Does nothing if CAMBIUM_HDF5_PROBE is "none", if the
/// probing program is not installed, and on ranks other than the first of more than 64.
void probe_hdf5(const std::vector<std::string>& paths);

/// Marks this file, in its present state, as not to be probed.
void trust_file(const std::string& path);
/// True if the file is so marked.
bool is_trusted_file(const std::string& path);

}  // namespace cambium::io
