#pragma once
#include <cstdint>
#include <vector>

#include "plugins/relate/chemistry/smiles.hpp"

namespace cambium::relate {

/// Rows of a table for the circular fragments of a molecule: each atom with what lies within 0, 1, ..., `radius` bonds
/// of it, hashed into 0 to rows - 1; ascending, each once (after the extended-connectivity fingerprints of Rogers and
/// Hahn, J. Chem. Inf. Model. 50, 742 (2010)). They do not depend on the order in which the atoms were written.
std::vector<std::int32_t> fragment_rows(const MoleculeGraph& molecule, int radius, std::int64_t rows);

}  // namespace cambium::relate
