#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/particles/structure.hpp"

namespace cambium::io {

/// A LAMMPS data file. Read on rank 0, distributed to all ranks. Collective.
///
/// `species` names the types 1, 2, ... in order, where two types may be of one species; the names of a section "Atom
/// Type Labels" replace it. Cell (xlo xhi, ylo yhi, zlo zhi, xy xz yz; or avec, bvec, cvec, abc origin), Masses, Atoms
/// and Velocities are read; the remarks name the rest. Units are those of `units` (LAMMPS' styles), else those of the
/// title ("units = real", as write_data writes it), else metal. The columns of Atoms are those of the style in the
/// section's comment (atomic, charge, full, molecular, sphere..., also with the suffix of an accelerated style), else
/// they are inferred from their number and contents. Ids with gaps are renumbered 1 to N. Throws InputError with
/// file:line for anything else.
Structure read_lammps_data(const std::string& path, std::span<const std::string> species, const Comm& comm,
                           const std::string& units = "");

/// Charges (e) of the atoms of a LAMMPS data file, by the ids that read_lammps_data() gives (1 first): column q of the
/// section Atoms, in the units that the title names, else those of metal. To be called by one rank. InputError as
/// read_lammps_data(), and for a style without charges.
std::vector<double> read_lammps_charges(const std::string& path);

}  // namespace cambium::io
