#pragma once
#include <cstdint>
#include <span>

#include "core/numerics/aligned_buffer.hpp"

namespace cambium::relate {

/// Dot products of all pairs of vectors of a sample, p(i, j) = z_i . z_j for j < i, row by row: (1,0) (2,0) (2,1) (3,0)
/// ... Processes native_width<T> samples at once, one per SIMD lane, with 4 x 4 pairs in registers: vectors of any
/// width take 2 width operations per pair, without sums across lanes. Sums run over the width in ascending order.
template <class T>
class Interactions {
 public:
  Interactions(int vectors, int width) : vectors_(vectors), width_(width) {}

  /// A vector of every sample: rows of `width` elements with stride `stride`, starting at `rows`.
  struct Source {
    const T* rows;
    std::ptrdiff_t stride;
  };
  struct Target {
    T* rows;
    std::ptrdiff_t stride;
  };
  int pairs() const { return vectors_ * (vectors_ - 1) / 2; }

  /// out: `pairs` values of each sample, rows with stride `stride`. The vectors are kept for backward().
  void forward(std::span<const Source> z, int samples, T* out, std::ptrdiff_t stride);
  /// Adds the derivatives by the vectors, given those by the products (rows as for `out`).
  void backward(const T* by, std::ptrdiff_t stride, std::span<const Target> by_z);

 private:
  T* block(int number);
  void products(const T* z);
  void derivatives(const T* z);

  int vectors_, width_, samples_ = 0;
  AlignedBuffer<T> z_;               ///< blocks of samples x vectors x width x lanes
  AlignedBuffer<T> pairs_, by_one_;  ///< of one block: pairs x lanes, vectors x width x lanes
};

extern template class Interactions<double>;
extern template class Interactions<float>;

}  // namespace cambium::relate
