#pragma once
#include <string>

#include "core/particles/structure.hpp"

namespace cambium::io {

/// One frame of an extended XYZ file. `frame` counts from 0; negative from the end (-1 is the last). Read on rank 0,
/// distributed to all ranks. Collective.
///
/// Required: Lattice="ax ay az bx by bz cx cy cz" (Å, right-handed, any orientation: the cell is rotated into Box's
/// form and positions and velocities with it), all directions periodic; Origin="x y z" is the cell's corner. Without
/// Lattice, but with pbc="F F F", the atoms are a cluster, and its cell is that of put_in_vacuum(). Columns
/// used are species or Z, positions (Å), masses (g/mol; QUIP's eV fs^2/Å^2 are recognised by their magnitude), ids,
/// unwrapped_position or travel as cell crossings, and the first of velo (Å/ps; Å/fs with QUIP's masses), momenta
/// (ASE's sqrt(eV g/mol)) and vel (GPUMD's Å/fs). `velocity_unit`, if given, is that of any column of velocities;
/// without it, velocities, velocity, vels and the vel of LAMMPS' dump extxyz are refused, since programs write them in
/// different units. With `velocities` false none are read. Species are ordered by their first atom. Ignored content is
/// listed in the remarks. Throws InputError with file:line for anything else.
Structure read_extxyz(const std::string& path, std::int64_t frame, const Comm& comm,
                      const std::string& velocity_unit = "", bool velocities = true);

}  // namespace cambium::io
