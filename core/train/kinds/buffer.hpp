#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/train/kinds/layout.hpp"

namespace cambium::train {

/// One value per parameter in contiguous host memory: weights, gradients, or a state of the optimizer. The layout must
/// outlive it.
class FlatBuffer {
 public:
  FlatBuffer() = default;
  FlatBuffer(const FlatLayout& layout, DType dtype);  ///< zeros

  /// Non-owning view of layout.size() values, which must be aligned to their size.
  static FlatBuffer on(const FlatLayout& layout, DType dtype, std::byte* data);
  /// Non-owning view of this buffer; empty if the buffer is empty.
  FlatBuffer view() const { return layout_ ? on(*layout_, dtype_, data_.get()) : FlatBuffer(); }

  const FlatLayout& layout() const { return *layout_; }
  DType dtype() const { return dtype_; }
  std::int64_t bytes() const { return layout_ ? layout_->size() * size_of(dtype_) : 0; }

  /// All elements with padding. T must have the size of dtype().
  template <class T>
  std::span<T> values() {
    return {reinterpret_cast<T*>(data_.get()), static_cast<std::size_t>(layout_->size())};
  }
  template <class T>
  std::span<const T> values() const {
    return {reinterpret_cast<const T*>(data_.get()), static_cast<std::size_t>(layout_->size())};
  }
  /// The elements of tensor k, without padding.
  template <class T>
  std::span<T> values(std::size_t k) {
    return values<T>().subspan(offset(k), count(k));
  }
  template <class T>
  std::span<const T> values(std::size_t k) const {
    return values<T>().subspan(offset(k), count(k));
  }

  /// Views with the tensors' shapes, in the network's order.
  std::vector<TensorRef> views();

  void zero();
  void copy_from(const FlatBuffer& other);  ///< of the same layout and type

 private:
  std::size_t offset(std::size_t k) const { return static_cast<std::size_t>(layout_->tensors()[k].offset); }
  std::size_t count(std::size_t k) const { return static_cast<std::size_t>(layout_->tensors()[k].elements); }

  struct Free {
    Free() : owned(true) {}
    explicit Free(bool own) : owned(own) {}
    bool owned;
    void operator()(std::byte* data) const;
  };
  const FlatLayout* layout_ = nullptr;
  DType dtype_ = DType::f64;
  std::unique_ptr<std::byte[], Free> data_;
};

/// Calls f<T>() with the C++ type of the buffer: f.template operator()<T>(), T double or float.
template <class F>
void with_real(DType dtype, F&& f) {
  if (dtype == DType::f64)
    f.template operator()<double>();
  else
    f.template operator()<float>();
}

/// Sum of squares of every tensor, in float64, all tensors in one pass. The order of additions depends only on the
/// tensor's length (pairwise over blocks), so equal buffers give bitwise identical results on every rank.
std::vector<double> squared_norms(const FlatBuffer& buffer);

/// values *= factor.
void scale(FlatBuffer& buffer, double factor);

/// Tensors concatenated without padding: the form stored in files, independent of alignment and groups.
template <class T>
std::vector<T> packed(const FlatBuffer& buffer);
template <class T>
void unpack(std::span<const T> values, FlatBuffer& buffer);

}  // namespace cambium::train
