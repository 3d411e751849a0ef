#pragma once
#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/train/dataset.hpp"

namespace cambium::train {

/// One field of a sample; InputError when it is absent.
inline const TensorRef& field_of(const Sample& sample, const std::string& name) {
  const auto found = sample.fields.find(name);
  if (found == sample.fields.end())
    throw InputError(fmt::format("sample {} has no field '{}'", sample.id, name));
  return found->second;
}

/// The numbers of a contiguous array of any type, as T.
template <class T, class Out>
void copy_numbers(const TensorRef& tensor, Out* out) {
  const auto* values = static_cast<const T*>(tensor.data);
  for (std::int64_t k = 0; k < tensor.elements(); ++k) out[k] = static_cast<Out>(values[k]);
}

template <class Out>
void read_numbers(const TensorRef& tensor, Out* out) {
  if (!tensor.contiguous()) throw InternalError("a sample's field is not contiguous");
  switch (tensor.dtype) {
    case DType::f64: return copy_numbers<double>(tensor, out);
    case DType::f32: return copy_numbers<float>(tensor, out);
    case DType::i64: return copy_numbers<std::int64_t>(tensor, out);
    case DType::i32: return copy_numbers<std::int32_t>(tensor, out);
    case DType::u32: return copy_numbers<std::uint32_t>(tensor, out);
    case DType::i8: return copy_numbers<std::int8_t>(tensor, out);
    case DType::u8: return copy_numbers<std::uint8_t>(tensor, out);
    case DType::bf16: break;
  }
  throw InternalError("a sample's field has a type that networks do not read");
}

}  // namespace cambium::train
