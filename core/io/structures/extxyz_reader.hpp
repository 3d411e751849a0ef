#pragma once
#include <string>

#include "core/particles/structure.hpp"

namespace cambium::io {

/// One frame of an extended XYZ file. `frame` counts from 0; negative from the end (-1 is the last). Read on rank 0,
/// dealt to all ranks. Collective.
///
/// Needed: Lattice="ax ay az bx by bz cx cy cz" (Å, right-handed, any orientation: the cell is turned into Box's form
/// and positions and velocities with it), all directions periodic; Origin="x y z" is the cell's corner. Columns as
/// Properties says; used are species:S:1 (or Z:I:1), pos:R:3 (Å), velo:R:3 (Å/ps) and id:I:1 (1 to N, otherwise atoms
/// are numbered in order). Others are skipped. Species come in the order of their first atom. Throws InputError with
/// file:line for anything else.
Structure read_extxyz(const std::string& path, std::int64_t frame, const Comm& comm);

}  // namespace cambium::io
