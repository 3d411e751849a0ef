#pragma once
#include "core/numerics/activation.hpp"

namespace cambium {

/// A dense layer z = x W + b of rows in host memory: x is rows x in, W in x out, z rows x out, all row-major without
/// gaps. Products are host_gemm()'s; all sums run in the order that each function states. T: float or double.
template <class T>
struct DenseLayer {
  std::int64_t in = 0, out = 0;
  const T* weights = nullptr;
  const T* bias = nullptr;  ///< null: zeros

  /// z = x W + b; every sum begins with b.
  void forward(std::int64_t rows, const T* x, T* z) const;
  /// z = b only, for products from elsewhere.
  void begin(std::int64_t rows, T* z) const;
  /// z += x W, without b.
  void add_product(std::int64_t rows, const T* x, T* z) const;
  /// The derivative by x of a loss whose derivative by z is given: by_x = by_z W^T, or by_x += with `add`.
  void input_gradient(std::int64_t rows, const T* by_z, T* by_x, bool add = false) const;
};

/// Sums of the derivatives of a loss by a DenseLayer's weights (in x out) and bias (null: none).
template <class T>
struct DenseGradient {
  std::int64_t in = 0, out = 0;
  T* weights = nullptr;
  T* bias = nullptr;

  /// weights += x^T by_z.
  void add_weights(std::int64_t rows, const T* x, const T* by_z) const;
  /// bias += by_z, one row after the other.
  void add_bias(std::int64_t rows, const T* by_z) const;
};

extern template struct DenseLayer<double>;
extern template struct DenseLayer<float>;
extern template struct DenseGradient<double>;
extern template struct DenseGradient<float>;

}  // namespace cambium
