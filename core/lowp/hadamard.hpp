#pragma once
#include <span>

namespace cambium::lowp {

/// Before 4 bits: every 128 numbers get fixed random signs, then become their sums with the signs of a Hadamard matrix
/// of 128 (not normalised). An outlier, or a part of larger numbers, is spread over all numbers that share a scale
/// (int4_groups), whatever its place: with the random signs, equal numbers in a row do not add up in one sum again.
/// Sums over ranks and quantisation commute with it. A randomised Hadamard transform (Ailon and Chazelle 2006);
/// InternalError when the length is no multiple of 128.
void randomised_hadamard(std::span<float> values);
void inverse_randomised_hadamard(std::span<float> values);

/// The transform of SDP4Bit (Jia et al., NeurIPS 2024), to compare with: every 32 numbers, no random signs.
void hadamard32(std::span<float> values);
void inverse_hadamard32(std::span<float> values);

}  // namespace cambium::lowp
