#pragma once
#include <bit>
#include <cstdint>

#include "core/base/tensor_ref.hpp"

namespace cambium::train {

/// A bfloat16 number as it lies in memory and on the wire.
struct Bf16 {
  std::uint16_t bits = 0;
  Bf16() = default;
  /// To the nearest, ties to even. Not-a-numbers stay such.
  explicit Bf16(float value) {
    const auto wide = std::bit_cast<std::uint32_t>(value);
    const bool nan = (wide & 0x7fffffffu) > 0x7f800000u;
    bits = static_cast<std::uint16_t>(nan ? (wide >> 16 | 0x40u) : (wide + 0x7fffu + ((wide >> 16) & 1u)) >> 16);
  }
  explicit operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
  Bf16& operator+=(Bf16 other) { return *this = Bf16(static_cast<float>(*this) + static_cast<float>(other)); }
};
static_assert(sizeof(Bf16) == 2);

/// Calls f.operator()<T>() with the type in which numbers are kept: double, float or Bf16.
template <class F>
void with_kept(DType dtype, F&& f) {
  if (dtype == DType::f64) f.template operator()<double>();
  else if (dtype == DType::f32) f.template operator()<float>();
  else f.template operator()<Bf16>();
}

}  // namespace cambium::train
