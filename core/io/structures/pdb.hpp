#pragma once
#include <string>

#include "core/io/structures/frame.hpp"

namespace cambium::io {

/// One frame in the format of the Protein Data Bank (version 3.3), for what it tells that trajectories in H5MD do not
/// tell their readers: names and elements of the atoms, in the order of ids, and lengths and angles of the cell.
/// Positions (Å) are relative to the cell's corner, as in H5MD, with the format's three decimals. A species that is no
/// chemical element has a name of its first four letters and no element; numbers of atoms begin anew after 99999.
std::string pdb_text(const Frame& frame);

}  // namespace cambium::io
