#pragma once
#include <string>

#include "core/base/citation.hpp"
#include "plugins/superres/equations/field_data.hpp"

namespace cambium::superres {

/// False for a file that is not in the layout of The Well (Ohana et al. 2024). For one that is: InputError unless it
/// holds a two-dimensional layer on a cartesian grid whose boundary conditions, if given, are periodic along x and
/// walls along y.
bool require_layer(const std::string& path);

/// b of The Well (1 below, 0 above) over that of rayleigh_benard (1/2 below, -1/2 above).
inline constexpr double well_b_shift = 0.5;

/// Adds `shift` to b, and to p the linear pressure that balances it, 0 at half height. `data` holds p, b first.
void shift_buoyancy(FieldData& data, double shift);

/// Ohana et al. 2024, NeurIPS.
Citation well_citation();

}  // namespace cambium::superres
