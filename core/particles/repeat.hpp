#pragma once
#include <array>

#include "core/parallel/comm.hpp"
#include "core/particles/structure.hpp"

namespace cambium {

/// Makes a supercell of a structure: `copies` along a, b and c, of any cell. Copy (i, j, k) of an atom is shifted by i
/// a + j b + k c, with its species and velocity, and has the id  id + n (i + na (j + nb k)), where n is the largest id
/// of the structure: the first copy keeps its ids, on any number of ranks. Cell crossings are reset. Collective. Throws
/// InputError if a rank would get more than 2^31 atoms.
void repeat(Structure& structure, const std::array<int, 3>& copies, const Comm& comm);

}  // namespace cambium
