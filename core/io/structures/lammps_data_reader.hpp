#pragma once
#include <span>
#include <string>

#include "core/particles/structure.hpp"

namespace cambium::io {

/// A LAMMPS data file of atom style atomic, in units metal. Read on rank 0, dealt to all ranks. Collective.
///
/// `species` names the types 1, 2, ... in order; the names of a section "Atom Type Labels" take its place. Read are
/// the cell (xlo xhi, ylo yhi, zlo zhi, xy xz yz), Masses, Atoms (id type x y z [ix iy iz], ids 1 to N in any order)
/// and Velocities; other sections are skipped. Throws InputError with file:line otherwise.
Structure read_lammps_data(const std::string& path, std::span<const std::string> species, const Comm& comm);

}  // namespace cambium::io
