#pragma once
#include <span>
#include <string>

#include "core/parallel/comm.hpp"
#include "core/particles/structure.hpp"

namespace cambium::io {

/// True for the names of VASP's structure files: POSCAR and CONTCAR, also with a prefix or suffix, and *.vasp.
bool is_poscar_name(const std::string& path);

/// A POSCAR or CONTCAR file of VASP 4, 5 or 6 (https://www.vasp.at/wiki/index.php/POSCAR). Read on rank 0, distributed
/// to all ranks. Collective.
///
/// The scaling line is a factor of cell and Cartesian positions, three factors of x, y and z, or minus the volume of
/// the cell (Å^3). Species are those of the file without a suffix from `_` or `/` on (Fe_pv, Si/hash), or `species` in
/// the order of the counts if it has none (VASP 4); species that occur twice are merged. Velocities are Cartesian
/// (Å/fs); all zeros in a file mean none, and with `velocities` false none are read. Selective dynamics fixes no atom
/// here, which gives a warning. Throws InputError with file:line for anything else.
Structure read_poscar(const std::string& path, std::span<const std::string> species, const Comm& comm,
                      bool velocities = true);

}  // namespace cambium::io
