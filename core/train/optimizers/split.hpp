#pragma once
#include <bit>
#include <cstdint>

#include "core/train/optimizers/optimizer.hpp"

namespace cambium::train {

/// Combines the two halves of a float32 weight. The upper one is a bfloat16 value, stored in a float32 buffer with the
/// lower bits zero.
inline float join(float high, std::uint16_t low) {
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(high) & 0xffff0000u) | low);
}
inline float high_half(float value) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xffff0000u); }
inline std::uint16_t low_half(float value) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value)); }

inline float join(std::uint16_t high, std::uint16_t low) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(high) << 16 | low);
}
inline void set_high(float& high, float value) { high = high_half(value); }
inline void set_high(std::uint16_t& high, float value) {
  high = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}
/// Calls f.operator()<T>() with the type of split weights: float with zero lower bits, or only the upper halves.
template <class F>
void with_high(DType weights, F&& f) {
  if (weights == DType::bf16)
    f.template operator()<std::uint16_t>();
  else
    f.template operator()<float>();
}

/// Truncates the weights and stores the lower bits in `low`.
void split_weights(FlatBuffer& weights, FlatBuffer& low);
/// InputError unless the network trains in float32.
void require_float32(std::string_view optimizer, DType weights);

extern const Citation split_citation;

}  // namespace cambium::train
