#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cambium::cosmo {

struct PooledShape {
  std::int64_t cells = 0;  ///< along an edge of the input cube; even
  std::int64_t inputs = 0, outputs = 0;
  double slope = 0.01;  ///< of the ReLU below zero

  std::size_t in_size() const { return static_cast<std::size_t>(cells * cells * cells * inputs); }
  std::size_t out_size() const { return static_cast<std::size_t>(cells / 2 * (cells / 2) * (cells / 2) * outputs); }
  std::size_t weights() const { return static_cast<std::size_t>(27 * inputs * outputs); }
  /// Length of a row of weight gradients in PooledConvolution::backward(): 3 inputs, padded to full registers.
  template <class T>
  std::int64_t gradient_row() const;
  /// Floating-point operations for one cube: forward, and backward with or without the gradient of the input.
  double flops() const { return 2.0 * static_cast<double>(in_size()) * 27.0 * static_cast<double>(outputs); }
  double gradient_flops(bool of_input) const { return flops() / 8.0 * (of_input ? 2.0 : 1.0); }
};

/// y[X] = leaky_relu(max over the eight x of cube X of (bias + sum over taps t and inputs c of w[t][c] x[x + t][c])),
/// for taps -1, 0, 1 along each of three periodic axes. Channels are contiguous: [x][y][z][channel]. Of equal values
/// the first of the eight in memory order is the maximum. T: float or double.
template <class T>
class PooledConvolution {
 public:
  /// weight: [outputs][inputs][3][3][3], bias: [outputs].
  PooledConvolution(PooledShape shape, const T* weight, const T* bias);

  const PooledShape& shape() const { return shape_; }
  /// largest: argmax among the eight of each output, same size as y.
  void forward(const T* x, T* y, std::uint8_t* largest) const;
  /// Adds the gradients of one cube: to dx, unless that is null, to dbias, and to dweight,
  /// [outputs][3][3][gradient_row()], of which the first [3][inputs] count.
  void backward(const T* x, const T* y, const std::uint8_t* largest, const T* dy, T* dx, T* dweight, T* dbias) const;

 private:
  PooledShape shape_;
  std::int64_t padded_outputs_ = 0;  ///< padded to full registers
  std::vector<T> by_output_;         ///< [tap][input][output]
  std::vector<T> by_input_;          ///< [output][3][3][gradient_row()], zeros after the first [3][input]
  std::vector<T> bias_;
};

/// The same for a low-rank factorised convolution: to `middle` channels, from which `leave` leads to the outputs. bias
/// + sum over m of leave[m] (sum over taps and inputs of core[t][c][m] x[x + t][c]). Forward only.
template <class T>
class PooledProduct {
 public:
  /// core: [middle][inputs][3][3][3], leave: [outputs][middle], bias: [outputs].
  PooledProduct(PooledShape shape, std::int64_t middle, const T* core, const T* leave, const T* bias);
  const PooledShape& shape() const { return shape_; }
  void forward(const T* x, T* y) const;

 private:
  PooledShape shape_;
  std::int64_t middle_, padded_middle_ = 0, padded_outputs_ = 0;
  std::vector<T> core_;   ///< [tap][input][middle]
  std::vector<T> leave_;  ///< [middle][output]
  std::vector<T> bias_;
};

}  // namespace cambium::cosmo
