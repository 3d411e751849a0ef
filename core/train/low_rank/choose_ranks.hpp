#pragma once
#include <cstdint>
#include <vector>

#include "core/train/kinds/factor_layers.hpp"

namespace cambium::train {

/// A rank that a layer may have, with what it was found to cost: by how much the loss grows, and the time of a pass,
/// when this layer alone has it.
struct RankCandidate {
  std::int64_t rank = 0;  ///< 0: whole
  double loss = 0.0;      ///< more than the whole network's
  double seconds = 0.0;   ///< more than the whole network's; less than zero where it saves time
  double kept = 1.0;      ///< share of the squares of the layer's weights
};

/// Ranks below which the layer has fewer multiplications than whole, from a sixteenth to nine tenths of that limit, at
/// most `most` of them: multiples of `multiple` where they are larger than it; the whole layer last.
std::vector<std::int64_t> candidate_ranks(const FactorLayer& layer, std::int64_t multiple, std::size_t most = 9);

/// The nearest sequence that does not fall (means of neighbours that do; Ayer et al., Ann. Math. Stat. 26, 641 (1955)):
/// a larger rank takes no less time, whatever else the machine did when it was measured.
void make_rising(std::vector<double>& values);

/// One candidate of each layer, by its number, so that the sum of seconds is at most `seconds` and the sum of losses
/// least: exact up to a thousandth of the span of the times. Empty where no choice is as fast.
std::vector<std::size_t> choose_ranks(const std::vector<std::vector<RankCandidate>>& layers, double seconds);

}  // namespace cambium::train
