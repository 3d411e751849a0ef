#pragma once
#include <cstdint>
#include <vector>

#include "plugins/pretrain/networks/conv_shape.hpp"

namespace cambium::pretrain {

/// A convolution of one field after another, by rows of registers: each holds channels of one cell, and as many cells
/// as registers are left share every weight that is read. `room` is each thread's own, kept from call to call. T: float
/// or double.
template <class T>
class ConvPass {
 public:
  /// weight: [outputs][inputs][taps], bias: [outputs]. The shape is handled().
  ConvPass(const ConvShape& shape, const T* weight, const T* bias);

  const ConvShape& shape() const { return shape_; }
  /// y: [cell out][output].
  void forward(const T* x, T* y, std::vector<T>& room) const;
  /// dx: [cell in][input], from the derivative by y.
  void input_gradient(const T* dy, T* dx, std::vector<T>& room) const;
  /// Adds to dweight: [tap][input][output].
  void add_weight_gradient(const T* x, const T* dy, T* dweight, std::vector<T>& room) const;

 private:
  /// A field with a layer of cells around it, in `room`.
  static const T* around(const Surrounded& cells, const T* values, std::int64_t channels, std::vector<T>& room);

  ConvShape shape_;
  Surrounded entering_, leaving_;
  Gathering forward_;
  std::vector<Gathering> backward_;
  std::vector<T> by_output_;  ///< [tap][input][output]
  std::vector<T> by_input_;   ///< [tap][output][input]
  std::vector<T> bias_, zeros_;
  std::vector<std::int64_t> rows_;  ///< of the gradient of weights: where each one's numbers are, seen from a cell
};

}  // namespace cambium::pretrain
