#pragma once
#include <optional>
#include <span>
#include <vector>

#include "core/deck/node.hpp"
#include "core/train/low_rank/cost_table.hpp"

namespace cambium::train {

/// Keys of a network with widths `share` times these, rounded (to the multiples that widths require), at least 1;
/// without ranks.
deck::Node narrowed(const deck::Node& keys, const std::vector<HasFactors::WidthKey>& widths, double share);

/// Keys in which lists of widths that the deck left empty are those of the network.
deck::Node with_widths(deck::Node keys, const std::vector<HasFactors::WidthKey>& widths);

/// A smaller, untrained network of the same type: its keys, the time of its pass relative to another one, and its
/// multiplications.
struct SmallerNetwork {
  deck::Node keys;
  double time_over = 1.0, multiplications = 0.0;
};
/// The widest network whose pass takes at most `most` times that of `chosen`: first all widths are scaled alike, by
/// eight bisections, then each width separately as far as the time allows, since timings are stepwise (a convolution
/// with 17 channels takes as long as one with 32). None if even 1/100 of the widths is too slow. `data` is its training
/// set. `counted`: multiplications per sample instead of times.
std::optional<SmallerNetwork> smaller_network(LoadedModel& whole, Assembled& chosen, double most, bool counted,
                                              Dataset& data, std::span<const SamplePtr> timed, Context& context);

}  // namespace cambium::train
