#pragma once
#include <string>
#include <vector>

#include "core/parallel/comm.hpp"

namespace cambium::md {

/// Charges (e) of the atoms of the last frame of an extended XYZ file, in the order of their ids, on every rank:
/// column charge, charges, initial_charges or q. Collective. InputError for a file without one.
std::vector<double> charges_of_file(const std::string& path, const Comm& comm);

}  // namespace cambium::md
