#pragma once
#include <cstdint>
#include <span>

#include "core/lowp/dither.hpp"
#include "core/numerics/bfloat16.hpp"

namespace cambium::lowp {

using cambium::from_bfloat16;
using cambium::to_bfloat16;

/// Spans of equal length.
void encode_bfloat16(std::span<const float> values, std::span<std::uint16_t> out);
void decode_bfloat16(std::span<const std::uint16_t> in, std::span<float> values);
/// Rounded up or down at random, so that the expectation is the value.
void encode_bfloat16(std::span<const float> values, const RoundingAddress& address, std::span<std::uint16_t> out);

}  // namespace cambium::lowp
