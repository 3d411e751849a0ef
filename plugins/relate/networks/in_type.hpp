#pragma once
#include "core/base/tensor_ref.hpp"

namespace cambium::relate {

/// Calls f.operator()<T>() with a network's type.
template <class F>
void in_type(DType type, F&& f) {
  if (type == DType::f64)
    f.template operator()<double>();
  else
    f.template operator()<float>();
}

}  // namespace cambium::relate
