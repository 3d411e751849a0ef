#pragma once
#include <string>

#include "core/io/hdf5/h5_internal.hpp"

/// Shared by the h5_*.cpp files only.
namespace cambium::io::detail {

/// Checks, when a data set is opened, what HDF5 needs to read it in addition to the file: the parts of a virtual data
/// set, the files of external storage, the filters of its chunks. HDF5 itself returns the fill value for a missing
/// part, zeros past the end of an external file, and reports a missing filter only at the first chunk. InputError names
/// what is missing and how to fix it.
void require_parts(const Handle& set, const std::string& file, const std::string& path);

/// The same without the filters, for data copied in their stored form.
void require_files_of(const Handle& set, const std::string& file, const std::string& path);

/// The checks of require_parts() except those of virtual data sets; `properties`: creation properties of the data set.
void require_external(const Handle& set, hid_t properties, const std::string& file, const std::string& path);
void require_filters(const Handle& set, hid_t properties, const std::string& file, const std::string& path);

std::string folder_of(const std::string& file);  ///< "." for a bare name

/// Candidate paths for a file name stored in `file`: the names that HDF5 tries, in its order. `prefixes`: value of the
/// environment variable that it reads (HDF5_VDS_PREFIX, HDF5_EXT_PREFIX), or null.
std::vector<std::string> places_of_file(const std::string& name, const std::string& file, const char* prefixes);

}  // namespace cambium::io::detail
