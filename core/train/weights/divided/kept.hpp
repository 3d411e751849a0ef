#pragma once
#include <cstdint>

#include "core/base/tensor_ref.hpp"
#include "core/lowp/wire/bfloat16.hpp"

namespace cambium::train {

/// A bfloat16 number as it lies in memory and on the wire.
struct Bf16 {
  std::uint16_t bits = 0;
  Bf16() = default;
  /// To the nearest, ties to even.
  explicit Bf16(float value) : bits(lowp::to_bfloat16(value)) {}
  explicit operator float() const { return lowp::from_bfloat16(bits); }
  Bf16& operator+=(Bf16 other) { return *this = Bf16(static_cast<float>(*this) + static_cast<float>(other)); }
};
static_assert(sizeof(Bf16) == 2);

/// Calls f.operator()<T>() with the type in which numbers are kept: double, float or Bf16.
template <class F>
void with_kept(DType dtype, F&& f) {
  if (dtype == DType::f64)
    f.template operator()<double>();
  else if (dtype == DType::f32)
    f.template operator()<float>();
  else
    f.template operator()<Bf16>();
}

}  // namespace cambium::train
