#pragma once
#include <optional>
#include <span>
#include <vector>

#include "core/deck/node.hpp"
#include "core/train/low_rank/cost_table.hpp"

namespace cambium::train {

/// Keys of a network whose widths are `share` of these ones, nearest whole numbers (of the multiples that widths have
/// to be), 1 at least. Ranks are none.
deck::Node narrowed(const deck::Node& keys, const std::vector<HasFactors::WidthKey>& widths, double share);

/// A smaller network of the same type, not trained yet: its keys, the time of its pass over that of another one, and
/// its multiplications.
struct SmallerNetwork {
  deck::Node keys;
  double time_over = 1.0, multiplications = 0.0;
};
/// The widest whose pass takes at most `most` times that of `chosen`: first all widths narrowed alike, by halving eight
/// times, then each width for itself as far as the time allows, since a machine's steps are coarse (a convolution of 17
/// channels takes what one of 32 takes). None where not even widths of a hundredth are fast enough. `data` is what it
/// would be trained on. `counted`: multiplications of a sample in place of times.
std::optional<SmallerNetwork> smaller_network(LoadedModel& whole, Assembled& chosen, double most, bool counted,
                                              Dataset& data, std::span<const SamplePtr> timed, Context& context);

}  // namespace cambium::train
