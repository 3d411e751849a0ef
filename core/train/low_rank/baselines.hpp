#pragma once
#include <vector>

#include "core/train/low_rank/cost_table.hpp"

namespace cambium::train {

/// The same share of every layer: ranks rise in turn, layer after layer, as long as the time that is predicted is
/// within `seconds`; a layer whose next rank would take too long stays, and the others go on, so that little of the
/// time is left. Empty where not even the least ranks are fast enough.
std::vector<std::size_t> equal_shares(const CostTable& table, double seconds);

/// The same with the layer first that keeps the least share of the squares of its weights.
std::vector<std::size_t> equal_energy(const CostTable& table, double seconds);

/// Candidates with the least times.
std::vector<std::size_t> fastest(const CostTable& table);

}  // namespace cambium::train
