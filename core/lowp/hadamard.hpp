#pragma once
#include <span>

namespace cambium::lowp {

/// Preprocessing for 4 bits: every 128 values get fixed random signs, then are multiplied by a Hadamard matrix of 128
/// (not normalised). An outlier, or a range of larger values, is spread over all values that share a scale
/// (int4_groups), whatever its position: with the random signs, equal consecutive values do not accumulate in one sum
/// again. Sums over ranks and quantisation commute with it. A randomised Hadamard transform (Ailon and Chazelle 2006);
/// InternalError if the length is not a multiple of 128.
void randomised_hadamard(std::span<float> values);
void inverse_randomised_hadamard(std::span<float> values);

/// The transform of SDP4Bit (Jia et al., NeurIPS 2024), for comparison: blocks of 32 values, no random signs.
void hadamard32(std::span<float> values);
void inverse_hadamard32(std::span<float> values);

}  // namespace cambium::lowp
