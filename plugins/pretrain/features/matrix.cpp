#include "plugins/pretrain/features/matrix.hpp"

#include <algorithm>
#include <cmath>

#include "core/numerics/gemm.hpp"

namespace cambium::pretrain {

namespace {

Matrix multiplied(bool turn_a, bool turn_b, const Matrix& a, const Matrix& b) {
  const auto m = static_cast<int>(turn_a ? a.columns : a.rows), k = static_cast<int>(turn_a ? a.rows : a.columns);
  const auto n = static_cast<int>(turn_b ? b.rows : b.columns);
  Matrix out(m, n);
  if (m > 0 && n > 0 && k > 0)
    host_gemm<double>(turn_a, turn_b, m, n, k, 1.0, a.values.data(), static_cast<int>(a.columns), b.values.data(),
                      static_cast<int>(b.columns), 0.0, out.values.data(), n);
  return out;
}

}  // namespace

Matrix product(const Matrix& a, const Matrix& b) { return multiplied(false, false, a, b); }
Matrix product_of_transposed(const Matrix& a, const Matrix& b) { return multiplied(true, false, a, b); }
Matrix product_with_transposed(const Matrix& a, const Matrix& b) { return multiplied(false, true, a, b); }

std::vector<double> column_means(const Matrix& a) {
  std::vector<double> out(a.columns, 0.0);
  for (std::int64_t k = 0; k < a.rows; ++k)
    for (std::size_t c = 0; c < out.size(); ++c) out[c] += a.row(k)[c];
  for (double& x : out) x /= static_cast<double>(std::max<std::int64_t>(1, a.rows));
  return out;
}

Matrix minus(const Matrix& a, std::span<const double> shift) {
  Matrix out = a;
  for (std::int64_t k = 0; k < a.rows; ++k)
    for (std::size_t c = 0; c < shift.size(); ++c) out.row(k)[c] -= shift[c];
  return out;
}

Matrix unit_rows(Matrix a) {
  for (std::int64_t k = 0; k < a.rows; ++k) {
    double sum = 0.0;
    for (const double x : a.row(k)) sum += x * x;
    const double by = sum > 0.0 ? 1.0 / std::sqrt(sum) : 0.0;
    for (double& x : a.row(k)) x *= by;
  }
  return a;
}

Matrix standardised(const Matrix& a, const Matrix& of) {
  const auto mean = column_means(of);
  std::vector<double> scale(mean.size(), 0.0);
  for (std::int64_t k = 0; k < of.rows; ++k)
    for (std::size_t c = 0; c < scale.size(); ++c) scale[c] += std::pow(of.row(k)[c] - mean[c], 2);
  for (std::size_t c = 0; c < scale.size(); ++c) {
    const double deviation = std::sqrt(scale[c] / static_cast<double>(of.rows));
    scale[c] = deviation > 1e-12 * (1.0 + std::abs(mean[c])) ? 1.0 / deviation : 0.0;
  }
  Matrix out = minus(a, mean);
  for (std::int64_t k = 0; k < out.rows; ++k)
    for (std::size_t c = 0; c < scale.size(); ++c) out.row(k)[c] *= scale[c];
  return out;
}

Matrix rows_of(const Matrix& a, std::span<const std::int64_t> rows) {
  Matrix out(std::ssize(rows), a.columns);
  for (std::int64_t k = 0; k < out.rows; ++k) {
    const auto from = a.row(rows[k]);
    std::copy(from.begin(), from.end(), out.row(k).begin());
  }
  return out;
}

}  // namespace cambium::pretrain
