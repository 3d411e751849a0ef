#pragma once
#include <string>
#include <vector>

#include "core/io/hdf5/h5.hpp"

namespace cambium::io {

/// Names of the axes of a task of Dedalus, such as "t", "x", "z" ("" of components); none where the file names none.
/// InputError where the task holds coefficients of a basis (attribute grid_space), which no reader of fields expects.
std::vector<std::string> axes_of_task(const Dataset& task);

}  // namespace cambium::io
