#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace cambium::lowp {

/// Extents of a field in at most four dimensions, row-major; fewer are padded with leading ones, and of more the
/// leading ones are merged.
struct FieldShape {
  static constexpr int dimensions = 4;
  std::array<std::int64_t, dimensions> extent{1, 1, 1, 1};
  std::array<std::int64_t, dimensions> stride{1, 1, 1, 1};
  std::int64_t elements = 1;

  explicit FieldShape(std::span<const std::int64_t> shape) {
    int k = dimensions - 1;
    for (auto j = std::ssize(shape) - 1; j >= 0; --j) {
      extent[k] *= shape[j];
      elements *= shape[j];
      if (k > 0 && j > 0) --k;
    }
    for (int d = dimensions - 2; d >= 0; --d) stride[d] = stride[d + 1] * extent[d + 1];
  }
};

}  // namespace cambium::lowp
