#pragma once
#include "core/base/recorder.hpp"
#include "core/sparse/csr.hpp"
#include "core/sparse/lanes.hpp"

namespace cambium::sparse {

/// Work of A h with `width` values per row, and of A^T h or samples at A's entries: 2 * entries * width operations and
/// the lower bound of traffic in products.hpp, each row of h once.
template <class T>
Amount product_amount(const Csr<T>& a, std::int64_t width) {
  const double size = sizeof(T), entries = static_cast<double>(a.entries()), columns = static_cast<double>(width);
  return {2.0 * entries * columns, entries * (4.0 + size) + static_cast<double>(a.rows + a.columns) * columns * size,
          static_cast<int>(sizeof(SumOf<T>))};
}

}  // namespace cambium::sparse
