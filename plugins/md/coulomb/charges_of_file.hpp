#pragma once
#include <string>
#include <vector>

#include "core/parallel/comm.hpp"

namespace cambium::md {

/// Charges (e) of the atoms of a file, in the order of their ids, on every rank: for an extended XYZ file (name ends
/// with xyz) column charge, charges, initial_charges or q of the last frame, otherwise column q of a LAMMPS data file,
/// in the units that its title names. Collective. InputError for a file without charges, or with charges in other
/// units.
std::vector<double> charges_of_file(const std::string& path, const Comm& comm);

}  // namespace cambium::md
