#pragma once
#include "core/numerics/gemm.hpp"
#include "core/numerics/packed_gemm.hpp"
#include "plugins/pretrain/search/float_rows.hpp"

namespace cambium::pretrain {

/// Products of many rows with a fixed set: the queries of a block, or the centres of lists. On host back ends each is
/// one sequential sum over the columns, so that it does not depend on the blocks.
class RowProducts {
 public:
  /// With the rows [first, last) of `of`, which must outlive this.
  RowProducts(const FloatRows& of, std::int64_t first, std::int64_t last)
      : of_(of.row(first)), stride_(static_cast<int>(of.stride)), count_(static_cast<int>(last - first)) {
    if constexpr (device_is_host) packed_ = PackedMatrix<float>(true, stride_, count_, of_, stride_);
  }
  explicit RowProducts(const FloatRows& of) : RowProducts(of, 0, of.rows) {}

  /// out (m x width) for m contiguous rows of the same stride; columns beyond the count are not written.
  void with(const float* rows, std::int64_t m, float* out, std::int64_t width) const {
    const auto n = static_cast<int>(m), ld = static_cast<int>(width);
    if constexpr (device_is_host)
      packed_.multiply(n, rows, stride_, false, out, ld);
    else
      host_gemm<float>(false, true, n, count_, stride_, 1.0f, rows, stride_, of_, stride_, 0.0f, out, ld);
  }

 private:
  const float* of_;
  int stride_, count_;
  PackedMatrix<float> packed_;
};

}  // namespace cambium::pretrain
