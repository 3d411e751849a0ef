#pragma once
#include <cstdint>

namespace cambium::podlstm {

/// The matrix W (in, out) of a layer in float32 and host memory, or, with a rank, its factors: W = enter leave, of
/// which enter is (in, rank) and leave (rank, out). Row-major without gaps.
struct LayerMatrix {
  std::int64_t in = 0, out = 0, rank = 0;  ///< rank 0: not factored
  const float* w = nullptr;                ///< W, or enter
  const float* leave = nullptr;

  /// z = x W + b for rows of x; b null: zeros.
  void forward(std::int64_t rows, const float* x, const float* b, float* z) const;
  /// z += x W.
  void add_product(std::int64_t rows, const float* x, float* z) const;
  /// by_x += by_z W^T: the derivative by x of a loss whose derivative by z is by_z.
  void add_input_gradient(std::int64_t rows, const float* by_z, float* by_x) const;
};

/// Sums of the derivatives of a loss by the elements of a LayerMatrix.
struct LayerMatrixGradient {
  float* w = nullptr;
  float* leave = nullptr;

  /// Adds those of the rows of x. With factors: leave += (x enter)^T by_z, enter += x^T (by_z leave^T).
  void add(const LayerMatrix& matrix, std::int64_t rows, const float* x, const float* by_z) const;
};

}  // namespace cambium::podlstm
