#pragma once
#include <string>

#include "core/io/structures/frame.hpp"

namespace cambium::io {

/// One frame in the format of the Protein Data Bank (version 3.3), for data that readers of H5MD trajectories do not
/// get from them: names and elements of the atoms, in the order of ids, and lengths and angles of the cell. Positions
/// (Å) are relative to the cell's corner, as in H5MD, with the format's three decimals. A species that is not a
/// chemical element has a name of its first four letters and no element; atom serial numbers restart after 99999.
std::string pdb_text(const Frame& frame);

}  // namespace cambium::io
