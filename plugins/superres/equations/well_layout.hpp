#pragma once
#include <string>

#include "core/base/citation.hpp"

namespace cambium::superres {

/// False for a file that is not in the layout of The Well (Ohana et al. 2024). For one that is: InputError unless it
/// holds a layer in two dimensions on a cartesian grid, its boundary conditions, where they are given, being periodic
/// along x and walls along y.
bool require_layer(const std::string& path);

/// Ohana et al. 2024, NeurIPS.
Citation well_citation();

}  // namespace cambium::superres
