#pragma once
#include <string>
#include <vector>

namespace cambium::io {

/// Has another process open HDF5 files of unknown origin first: InputError where the HDF5 library ends on one, or does
/// not come to an end. Files that this process wrote, whose seal is sound (trust_file()), or that were looked at before
/// and have not changed since, cost nothing; others some milliseconds each. Nothing is done where CAMBIUM_HDF5_PROBE is
/// "none", where the program that looks is not installed, and on ranks behind the first of more than 64.
void probe_hdf5(const std::vector<std::string>& paths);

/// No process need look at this file as it is now.
void trust_file(const std::string& path);
/// True if that is known of it.
bool is_trusted_file(const std::string& path);

}  // namespace cambium::io
