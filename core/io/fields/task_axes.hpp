#pragma once
#include <string>
#include <vector>

#include "core/io/hdf5/h5.hpp"

namespace cambium::io {

/// Names of the axes of a Dedalus task, such as "t", "x", "z" ("" for components); none if the file names none.
/// InputError if the task holds spectral coefficients (attribute grid_space), which readers of fields do not support.
std::vector<std::string> axes_of_task(const Dataset& task);

}  // namespace cambium::io
