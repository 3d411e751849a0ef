#pragma once
#include <type_traits>

#include "core/base/tensor_ref.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium {

/// TensorRef of a Kokkos view: shape, strides and address; `rows` (if >= 0) shortens the first extent.
template <class V>
TensorRef tensor_of(const V& view, std::int64_t rows = -1) {
  TensorRef t;
  t.data = const_cast<std::remove_const_t<typename V::value_type>*>(view.data());
  t.rank = static_cast<int>(V::rank);
  for (int k = 0; k < t.rank; ++k) {
    t.shape[k] = view.extent(k);
    t.stride[k] = view.stride(k);
  }
  if (rows >= 0) t.shape[0] = rows;
  t.dtype = dtype_of<typename V::value_type>();
  t.space =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename V::memory_space>::accessible ? Space::host : Space::device;
  t.is_const = std::is_const_v<typename V::value_type>;
  return t;
}

}  // namespace cambium
