#pragma once
#include <cstdint>
#include <vector>

#include "plugins/pretrain/networks/conv_shape.hpp"

namespace cambium::pretrain {

/// Convolution of fields one by one, in SIMD registers: each holds channels of one cell, and as many cells as fit in
/// registers share every weight that is loaded. `room` is scratch memory of a thread, kept between calls. T: float or
/// double.
template <class T>
class ConvPass {
 public:
  /// weight: [outputs][inputs][taps], bias: [outputs]. The shape must be handled().
  ConvPass(const ConvShape& shape, const T* weight, const T* bias);

  const ConvShape& shape() const { return shape_; }
  /// y: [cell out][output].
  void forward(const T* x, T* y, std::vector<T>& room) const;
  /// dx: [cell in][input], from the derivative by y.
  void input_gradient(const T* dy, T* dx, std::vector<T>& room) const;
  /// Adds to dweight: [tap][input][output].
  void add_weight_gradient(const T* x, const T* dy, T* dweight, std::vector<T>& room) const;

 private:
  /// A field padded by a layer of cells, in `room`.
  static const T* around(const Surrounded& cells, const T* values, std::int64_t channels, std::vector<T>& room);

  ConvShape shape_;
  Surrounded entering_, leaving_;
  Gathering forward_;
  std::vector<Gathering> backward_;
  std::vector<T> by_output_;  ///< [tap][input][output]
  std::vector<T> by_input_;   ///< [tap][output][input]
  std::vector<T> bias_, zeros_;
  std::vector<std::int64_t> rows_;  ///< of the weight gradient: offset of each row's values from a cell
};

}  // namespace cambium::pretrain
