#pragma once
#include <span>
#include <vector>

#include "core/numerics/aligned_buffer.hpp"
#include "plugins/submatrix/columns/block_columns.hpp"

namespace cambium::submatrix {

/// One block column while products are accumulated in it. Blocks are rows of panels of `width` values, padded to full
/// registers; a block is created on first access.
class BlockPanel {
 public:
  explicit BlockPanel(const BlockLayout& layout)
      : layout_(layout), slot_(static_cast<std::size_t>(layout.blocks()), -1) {}

  /// Removes all blocks.
  void clear(int width);
  /// Blocks in the order in which they appeared.
  std::span<const int> blocks() const { return blocks_; }
  int width() const { return width_; }
  int stride() const { return stride_; }
  bool has(int block) const { return slot_[block] >= 0; }
  /// size(block) x stride, zero when new. The pointer is valid until the next new block.
  double* at(int block);
  const double* at(int block) const { return data_.data() + slot_[block]; }
  double norm(int block) const;

  /// This block `row` += A (size(row) x size(k), row-major) times block k of `other`.
  void add_product(int row, const double* a, int k, const BlockPanel& other);
  /// Sets block `row` to a row-major array of size(row) x width, or to the transpose of width x size(row).
  void set(int row, const double* values, bool transposed = false);
  /// Block `row` without padding, row-major.
  void copy(int row, double* out) const;

 private:
  const BlockLayout& layout_;
  std::vector<std::ptrdiff_t> slot_;
  std::vector<int> blocks_;
  AlignedBuffer<double> data_;
  std::ptrdiff_t used_ = 0;
  int width_ = 0, stride_ = 0;
};

}  // namespace cambium::submatrix
