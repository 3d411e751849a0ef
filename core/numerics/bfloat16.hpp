#pragma once
#include <cstdint>
#include <cstring>

#include "core/base/pack.hpp"

namespace cambium {

/// The upper half of a float's bits is a bfloat16. Nearest, ties to even; not-a-number stays one.
CAMBIUM_FN std::uint16_t to_bfloat16(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, 4);
  const std::uint32_t nearest = (bits + 0x7fff + (bits >> 16 & 1)) >> 16, nan = (bits >> 16) | 0x40;
  return static_cast<std::uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? nan : nearest);
}
CAMBIUM_FN float from_bfloat16(std::uint16_t half) {
  const std::uint32_t bits = static_cast<std::uint32_t>(half) << 16;
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}

/// A bfloat16 value in memory and in messages.
struct Bf16 {
  std::uint16_t bits = 0;
  Bf16() = default;
  /// To the nearest, ties to even.
  CAMBIUM_FN explicit Bf16(float value) : bits(to_bfloat16(value)) {}
  CAMBIUM_FN explicit operator float() const { return from_bfloat16(bits); }
  CAMBIUM_FN Bf16& operator+=(Bf16 other) {
    return *this = Bf16(static_cast<float>(*this) + static_cast<float>(other));
  }
};
static_assert(sizeof(Bf16) == 2);

}  // namespace cambium
