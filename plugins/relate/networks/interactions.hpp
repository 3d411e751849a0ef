#pragma once
#include <cstdint>
#include <span>

#include "core/numerics/aligned_buffer.hpp"

namespace cambium::relate {

/// Products of all pairs of vectors of a sample, p(i, j) = z_i . z_j for j < i, row by row: (1,0) (2,0) (2,1) (3,0) ...
/// native_width<T> samples are worked on at once, one in each lane, and four by four pairs in registers, so that
/// vectors of any width cost their 2 width operations a pair and no sums across lanes. Sums run over the width in
/// ascending order.
template <class T>
class Interactions {
 public:
  Interactions(int vectors, int width) : vectors_(vectors), width_(width) {}

  /// A vector of every sample: `rows` begins a row of `width` numbers every `stride`.
  struct Source {
    const T* rows;
    std::ptrdiff_t stride;
  };
  struct Target {
    T* rows;
    std::ptrdiff_t stride;
  };
  int pairs() const { return vectors_ * (vectors_ - 1) / 2; }

  /// out: `pairs` numbers of each sample, a row every `stride`. The vectors are kept for backward().
  void forward(std::span<const Source> z, int samples, T* out, std::ptrdiff_t stride);
  /// Adds the derivatives by the vectors, of those by the products (rows as out was).
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
