#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "core/base/pack.hpp"

namespace cambium::deepmd {

/// Training kernels run on the cores of the host, in registers of this many values.
template <class T>
using HostPack = Pack<T, native_width<T>>;

/// `n` rounded up to full registers.
template <class T>
constexpr int whole_packs(int n) {
  return (n + native_width<T> - 1) / native_width<T> * native_width<T>;
}

/// Matrix with rows of full registers, aligned to cache lines. Memory is zero until written; kernels keep the columns
/// from `width` on zero, so that rows can be read and added in full registers.
template <class T>
class Rows {
 public:
  Rows() = default;
  explicit Rows(int width, int spare = 0) : width_(width), stride_(whole_packs<T>(width) + spare) {}

  /// Reserves memory for `rows` rows; contents are lost (zeroed) when it grows.
  void reserve(std::int64_t rows) {
    if (rows <= rows_) return;
    rows_ = rows + rows / 8;
    const std::size_t bytes = (static_cast<std::size_t>(rows_) * stride_ + 2 * native_width<T>)*sizeof(T);
    data_.reset(static_cast<T*>(::operator new[](bytes, std::align_val_t(64))));
    std::fill_n(data_.get(), bytes / sizeof(T), T(0));
  }
  void zero(std::int64_t rows) { std::fill_n(data_.get(), rows * stride_, T(0)); }

  T* row(std::int64_t k) { return data_.get() + k * stride_; }
  const T* row(std::int64_t k) const { return data_.get() + k * stride_; }
  int width() const { return width_; }
  int stride() const { return stride_; }
  std::size_t bytes() const { return static_cast<std::size_t>(rows_) * stride_ * sizeof(T); }

 private:
  struct Free {
    void operator()(T* p) const { ::operator delete[](p, std::align_val_t(64)); }
  };
  int width_ = 0, stride_ = 0;
  std::int64_t rows_ = 0;
  std::unique_ptr<T[], Free> data_;
};

}  // namespace cambium::deepmd
