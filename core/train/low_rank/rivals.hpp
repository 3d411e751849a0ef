#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "core/deck/node.hpp"
#include "core/train/low_rank/cost_table.hpp"

namespace cambium::train {

/// The same share of every layer, the largest whose time is predicted to be within `seconds`; empty where there is
/// none.
std::vector<std::size_t> equal_shares(const CostTable& table, double seconds);

/// The smallest rank of every layer that keeps a share of the squares of its weights; of all shares the largest whose
/// time is predicted to be within `seconds`. Empty where there is none.
std::vector<std::size_t> equal_energy(const CostTable& table, double seconds);

/// Candidates with the least times.
std::vector<std::size_t> fastest(const CostTable& table);

/// Keys of a network whose widths are `share` of these ones, nearest whole numbers (of the multiples that widths have
/// to be), 1 at least. Ranks are none.
deck::Node narrowed(const deck::Node& keys, const std::vector<HasFactors::WidthKey>& widths, double share);

/// A smaller network of the same type, not trained yet: its keys, the time of its pass over that of the whole one, and
/// its multiplications.
struct SmallerNetwork {
  deck::Node keys;
  double time_share = 1.0, multiplications = 0.0;
};
/// The widest whose pass takes at most `time_share` of the whole network's, found by halving eight times; none where
/// not even widths of a hundredth are fast enough. `data` is what it would be trained on.
std::optional<SmallerNetwork> smaller_network(LoadedModel& whole, double time_share, Dataset& data,
                                              std::span<const SamplePtr> timed, Context& context);

}  // namespace cambium::train
