#pragma once
#include <span>

#include "core/base/error.hpp"
#include "core/base/tensor_ref.hpp"
#include "core/lowp/bfloat16.hpp"

namespace cambium::train {

/// Values of a contiguous host array of any numeric type, converted to Out.
template <class Out>
void copy_numbers(const TensorRef& from, std::span<Out> out) {
  if (!from.contiguous() || from.space != Space::host)
    throw InternalError("a sample's field is not contiguous in host memory");
  const auto copy = [&]<class T>(const T* values) {
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = static_cast<Out>(values[k]);
  };
  switch (from.dtype) {
    case DType::f64:
      return copy(static_cast<const double*>(from.data));
    case DType::f32:
      return copy(static_cast<const float*>(from.data));
    case DType::i64:
      return copy(static_cast<const std::int64_t*>(from.data));
    case DType::i32:
      return copy(static_cast<const std::int32_t*>(from.data));
    case DType::u32:
      return copy(static_cast<const std::uint32_t*>(from.data));
    case DType::i8:
      return copy(static_cast<const std::int8_t*>(from.data));
    case DType::u8:
      return copy(static_cast<const std::uint8_t*>(from.data));
    case DType::bf16:
      break;
  }
  const auto* halves = static_cast<const std::uint16_t*>(from.data);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = static_cast<Out>(lowp::from_bfloat16(halves[k]));
}

}  // namespace cambium::train
