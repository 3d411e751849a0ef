#pragma once
#include <string>
#include <vector>

#include "plugins/deepmd/data/system.hpp"

namespace cambium::deepmd {

/// Content of a .npy file (version 1) with float64 values in row-major order.
std::string npy_text(const std::vector<double>& values, const std::vector<std::int64_t>& shape);

/// Writes a deepmd/npy system: type.raw, type_map.raw and one folder set.000 with coord, box, energy, force and virial.
/// All frames have the same atoms, a cell and all labels, which are written in the axes in which the cell was given.
/// Each file appears complete or not at all.
void write_system(const std::string& folder, const std::vector<std::string>& type_map, const std::vector<int>& types,
                  const std::vector<LabelledFrame>& frames);

}  // namespace cambium::deepmd
