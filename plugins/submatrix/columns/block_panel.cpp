#include "plugins/submatrix/columns/block_panel.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/pack.hpp"

namespace cambium::submatrix {

namespace {

using BlockRegister = Pack<double, native_width<double>>;

/// C (m x one register) += A (m x K) X (K x one register), X kept in registers.
template <int K>
void add_narrow(int m, const double* a, const double* x, double* c) {
  constexpr int w = native_width<double>;
  BlockRegister row[K];
  for (int k = 0; k < K; ++k) row[k] = BlockRegister::load(x + k * w);
  for (int i = 0; i < m; ++i) {
    BlockRegister total = BlockRegister::load(c + i * w);
    for (int k = 0; k < K; ++k) total = fma(BlockRegister(a[i * K + k]), row[k], total);
    total.store(c + i * w);
  }
}

/// C (m x stride) += A (m x k) X (k x stride).
void add_wide(int m, int k, int stride, const double* a, const double* x, double* c) {
  constexpr int w = native_width<double>;
  for (int j = 0; j < stride; j += w)
    for (int i = 0; i < m; ++i) {
      BlockRegister total = BlockRegister::load(c + i * stride + j);
      for (int p = 0; p < k; ++p)
        total = fma(BlockRegister(a[i * k + p]), BlockRegister::load(x + p * stride + j), total);
      total.store(c + i * stride + j);
    }
}

}  // namespace

void BlockPanel::clear(int width) {
  for (int block : blocks_) slot_[block] = -1;
  blocks_.clear();
  used_ = 0;
  width_ = width;
  constexpr int w = native_width<double>;
  stride_ = (width + w - 1) / w * w;
}

double* BlockPanel::at(int block) {
  auto& slot = slot_[block];
  if (slot < 0) {
    const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(layout_.size(block)) * stride_;
    if (used_ + size > static_cast<std::ptrdiff_t>(data_.size())) {
      AlignedBuffer<double> larger(static_cast<std::size_t>(2 * (used_ + size)));
      std::copy_n(data_.data(), used_, larger.data());
      std::swap(data_, larger);
    }
    slot = used_;
    std::fill_n(data_.data() + slot, size, 0.0);
    used_ += size;
    blocks_.push_back(block);
  }
  return data_.data() + slot;
}

double BlockPanel::norm(int block) const {
  const double* x = at(block);
  const int size = layout_.size(block) * stride_;
  double sum = 0.0;
  for (int k = 0; k < size; ++k) sum += x[k] * x[k];
  return std::sqrt(sum);
}

void BlockPanel::add_product(int row, const double* a, int k, const BlockPanel& other) {
  double* c = at(row);
  const double* x = other.at(k);
  const int m = layout_.size(row), inner = layout_.size(k);
  if (stride_ != native_width<double>) return add_wide(m, inner, stride_, a, x, c);
  switch (inner) {
    case 1:
      return add_narrow<1>(m, a, x, c);
    case 4:
      return add_narrow<4>(m, a, x, c);
    case 6:
      return add_narrow<6>(m, a, x, c);
    case 8:
      return add_narrow<8>(m, a, x, c);
    default:
      return add_wide(m, inner, stride_, a, x, c);
  }
}

void BlockPanel::set(int row, const double* values, bool transposed) {
  double* out = at(row);
  const int m = layout_.size(row);
  for (int i = 0; i < m; ++i)
    for (int q = 0; q < width_; ++q) out[i * stride_ + q] = transposed ? values[q * m + i] : values[i * width_ + q];
}

void BlockPanel::copy(int row, double* out) const {
  const double* x = at(row);
  for (int i = 0; i < layout_.size(row); ++i) std::copy_n(x + i * stride_, width_, out + i * width_);
}

}  // namespace cambium::submatrix
