#pragma once
#include <cstdint>
#include <vector>

#include "plugins/relate/chemistry/smiles.hpp"

namespace cambium::relate {

/// Table rows of the circular fragments of a molecule: each atom with its environment of 0, 1, ..., `radius` bonds,
/// hashed to 0 to rows - 1; ascending, each once (after the extended-connectivity fingerprints of Rogers and Hahn, J.
/// Chem. Inf. Model. 50, 742 (2010)). Independent of the order of the atoms.
std::vector<std::int32_t> fragment_rows(const MoleculeGraph& molecule, int radius, std::int64_t rows);

}  // namespace cambium::relate
