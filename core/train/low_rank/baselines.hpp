#pragma once
#include <vector>

#include "core/train/low_rank/cost_table.hpp"

namespace cambium::train {

/// Same fraction for every layer: ranks are raised in turn, layer after layer, while the predicted time is within
/// `seconds`. A layer whose next rank would take too long stops while the others continue, so little of the time is
/// left. Empty if even the smallest ranks are too slow.
std::vector<std::size_t> equal_shares(const CostTable& table, double seconds);

/// The same, raising first the layer that keeps the smallest fraction of its squared weights.
std::vector<std::size_t> equal_energy(const CostTable& table, double seconds);

/// Candidates with the smallest times.
std::vector<std::size_t> fastest(const CostTable& table);

}  // namespace cambium::train
