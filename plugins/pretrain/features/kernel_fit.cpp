#include "plugins/pretrain/features/kernel_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/numerics/symmetric_eigen.hpp"

namespace cambium::pretrain {

namespace {

Matrix kernel_of(const Matrix& a, const Matrix& b, double length) {
  Matrix out = product_with_transposed(a, b);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < b.rows; ++j) {
      double square = 0.0;
      for (std::int64_t c = 0; c < a.columns; ++c) square += (a(i, c) - b(j, c)) * (a(i, c) - b(j, c));
      out(i, j) += 1.0 + std::exp(-0.5 * square / (length * length));
    }
  return out;
}

struct Solved {
  Matrix weights;
  double left_out = 0.0;  ///< sum of squared leave-one-out errors
};

/// (K + ridge)^-1 outputs; the leave-one-out error of row i is its weights over the inverse's diagonal.
Solved solve(const Matrix& vectors, const std::vector<double>& values, const Matrix& outputs, double ridge) {
  Matrix side = product(vectors, outputs), scaled = vectors;
  for (std::int64_t k = 0; k < side.rows; ++k) {
    const double by = 1.0 / (std::max(0.0, values[k]) + ridge);
    for (double& x : side.row(k)) x *= by;
    for (double& x : scaled.row(k)) x *= by;
  }
  Solved out{product_of_transposed(vectors, side), 0.0};
  for (std::int64_t i = 0; i < out.weights.rows; ++i) {
    double diagonal = 0.0;
    for (std::int64_t k = 0; k < vectors.rows; ++k) diagonal += vectors(k, i) * scaled(k, i);
    for (const double w : out.weights.row(i)) out.left_out += (w / diagonal) * (w / diagonal);
  }
  return out;
}

}  // namespace

KernelFit::KernelFit(const Matrix& inputs, const Matrix& outputs) : inputs_(inputs), mean_(column_means(outputs)) {
  const Matrix centred = minus(outputs, mean_);
  double best = std::numeric_limits<double>::infinity();
  for (const double length : {0.3, 0.6, 1.2, 2.4, 5.0}) {
    Matrix vectors = kernel_of(inputs, inputs, length);
    std::vector<double> values(inputs.rows);
    symmetric_eigenvectors(static_cast<int>(inputs.rows), vectors.values.data(), values.data());
    for (const double ridge : {1e-4, 1e-3, 1e-2, 1e-1}) {
      auto solved = solve(vectors, values, centred, ridge);
      if (solved.left_out < best) {
        best = solved.left_out;
        weights_ = std::move(solved.weights);
        length_ = length;
      }
    }
  }
}

Matrix KernelFit::operator()(const Matrix& inputs) const {
  Matrix out = product(kernel_of(inputs, inputs_, length_), weights_);
  for (std::int64_t k = 0; k < out.rows; ++k)
    for (std::size_t c = 0; c < mean_.size(); ++c) out.row(k)[c] += mean_[c];
  return out;
}

}  // namespace cambium::pretrain
