#pragma once
#include <string>

#include "core/io/hdf5/h5_internal.hpp"

/// Shared by the h5_*.cpp files only.
namespace cambium::io::detail {

/// Requirements of HDF5 to read a data set in addition to the file, looked for when the data set is opened: the parts
/// of a virtual data set, the files of external storage, the filters of its chunks. HDF5 itself gives the fill value
/// for a part that is not there, zeros for what an external file is short of, and tells of a missing filter when it
/// meets the first chunk. InputError names what is missing and what helps.
void require_parts(const Handle& set, const std::string& file, const std::string& path);

/// The same without the filters, for what is copied as it is stored.
void require_files_of(const Handle& set, const std::string& file, const std::string& path);

/// What require_parts() asks beside the parts of virtual data sets; `properties`: with which the data set was made.
void require_external(const Handle& set, hid_t properties, const std::string& file, const std::string& path);
void require_filters(const Handle& set, hid_t properties, const std::string& file, const std::string& path);

std::string folder_of(const std::string& file);  ///< "." for a bare name

/// Where a name of another file that stands in `file` leads: the names that HDF5 tries, in its order. `prefixes`: value
/// of the environment variable that it reads (HDF5_VDS_PREFIX, HDF5_EXT_PREFIX), or null.
std::vector<std::string> places_of_file(const std::string& name, const std::string& file, const char* prefixes);

}  // namespace cambium::io::detail
