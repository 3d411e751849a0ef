#pragma once
#include "core/base/tensor_ref.hpp"
#include "core/numerics/bfloat16.hpp"

namespace cambium::train {

/// Calls f.operator()<T>() with the storage type: double, float or Bf16.
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
