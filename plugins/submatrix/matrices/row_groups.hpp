#pragma once
#include <vector>

#include "plugins/submatrix/matrices/stored_elements.hpp"

namespace cambium::submatrix {

/// True when this build found METIS.
bool has_metis();

/// Collective. Block of each atom, so that strongly coupled atoms are in the same one and blocks have about `functions`
/// functions: METIS, k-way or, if that leaves blocks empty, by bisection, minimising the edge cut, whose weights are
/// sums of |element|^2 between two atoms (G. Karypis and V. Kumar, SIAM J. Sci. Comput. 20, 359 (1998)); the same on
/// any number of ranks. `atom_of`: of each row of the matrix. InputError without METIS.
std::vector<int> metis_groups(const StoredElements& matrix, const std::vector<int>& atom_functions,
                              const std::vector<int>& atom_of, int functions, const FileRanks& ranks);

}  // namespace cambium::submatrix
