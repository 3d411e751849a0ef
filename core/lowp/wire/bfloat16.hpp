#pragma once
#include <cstdint>
#include <cstring>
#include <span>

#include "core/lowp/wire/dither.hpp"

namespace cambium::lowp {

/// The upper half of a float's bits is a bfloat16. Nearest, ties to even; not-a-number stays one.
inline std::uint16_t to_bfloat16(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, 4);
  const std::uint32_t nearest = (bits + 0x7fff + (bits >> 16 & 1)) >> 16, nan = (bits >> 16) | 0x40;
  return static_cast<std::uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? nan : nearest);
}
inline float from_bfloat16(std::uint16_t half) {
  const std::uint32_t bits = static_cast<std::uint32_t>(half) << 16;
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}

/// Spans of equal length.
void encode_bfloat16(std::span<const float> values, std::span<std::uint16_t> out);
void decode_bfloat16(std::span<const std::uint16_t> in, std::span<float> values);
/// Rounded up or down at random, so that the expectation is the value.
void encode_bfloat16(std::span<const float> values, const RoundingAddress& address, std::span<std::uint16_t> out);

}  // namespace cambium::lowp
