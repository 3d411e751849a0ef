#pragma once
#include <cstdint>
#include <vector>

#include "core/train/kinds/factor_layers.hpp"

namespace cambium::train {

/// A candidate rank of a layer with its measured cost: the increase of the loss and of the time of a pass if only this
/// layer has it.
struct RankCandidate {
  std::int64_t rank = 0;  ///< 0: not factored
  double loss = 0.0;      ///< relative to the full network
  double seconds = 0.0;   ///< relative to the full network; negative if it saves time
  double kept = 1.0;      ///< fraction of the layer's squared weights
};

/// At most `most` ranks with fewer multiplications than the full layer, from 1/16 to 9/10 of the break-even rank:
/// multiples of `multiple` if larger than it; the unfactored layer last.
std::vector<std::int64_t> candidate_ranks(const FactorLayer& layer, std::int64_t multiple, std::size_t most = 9);

/// Nearest non-decreasing sequence (isotonic regression by pooling neighbours; Ayer et al., Ann. Math. Stat. 26, 641
/// (1955)): a larger rank takes no less time, whatever the noise of a measurement.
void make_rising(std::vector<double>& values);

/// One candidate index per layer such that the sum of seconds is at most `seconds` and the sum of losses minimal: exact
/// up to a thousandth of the span of the times. Empty if no choice is fast enough.
std::vector<std::size_t> choose_ranks(const std::vector<std::vector<RankCandidate>>& layers, double seconds);

}  // namespace cambium::train
