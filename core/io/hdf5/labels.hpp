#pragma once
#include <string>
#include <vector>

#include "core/io/hdf5/h5.hpp"

namespace cambium::io {

/// Metadata for readers of the CF conventions (xarray, CDO, ncview): every array has a long name, a unit and named
/// dimensions (Group::attach_scales). xarray sees the arrays at the top of a file only; show_at_top() links those of a
/// group there, as further names of the same data.

/// Sets the attributes `units` ("1" if there is none) and `long_name` of an array and returns it.
Dataset labelled(Dataset array, const std::string& unit, const std::string& long_name);

/// A dimension that has a length and no coordinates of its own, as netCDF stores one; it takes no space on disk. Pass
/// it to Group::attach_scales like any other.
void write_dimension(Group& group, const std::string& name, std::int64_t length);

/// Another name at the top of the file for an array in one of its groups. Does nothing if the name is taken.
void show_at_top(File& file, const std::string& array, const std::string& name);

/// Sets auxiliary coordinates of an array, such as the step in addition to the time: `names` separated by blanks.
void set_coordinates(Dataset array, const std::string& names);

/// The attribute Conventions of a file that follows CF.
void follow_cf(File& file);

/// A name made of letters, digits and single underscores: "harmonics + ridge (window)" is "harmonics_ridge_window".
std::string plain_name(const std::string& text);

}  // namespace cambium::io
