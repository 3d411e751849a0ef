#include "core/codec/fields/least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cambium::lowp {
namespace {

/// Replaces a symmetric positive definite matrix by its inverse (Gauss and Jordan).
void invert(std::vector<double>& a, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) {
    double* pivot = a.data() + k * n;
    const double inverse = 1.0 / pivot[k];
    pivot[k] = 1.0;
    for (std::size_t j = 0; j < n; ++j) pivot[j] *= inverse;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      double* row = a.data() + i * n;
      const double f = row[k];
      row[k] = 0.0;
      for (std::size_t j = 0; j < n; ++j) row[j] -= f * pivot[j];
    }
  }
}

}  // namespace

void NormalEquations::add(const float* row, float b) {
  ++rows_;
  for (std::size_t i = 0; i < n_; ++i) {
    const double f = row[i];
    if (f == 0.0) continue;
    double* out = matrix_.data() + i * n_;
    for (std::size_t j = 0; j <= i; ++j) out[j] += f * static_cast<double>(row[j]);
    right_[i] += f * static_cast<double>(b);
  }
}

NormalEquations::Rounded NormalEquations::solve_in_steps() const {
  Rounded out{0.0f, std::vector<std::int8_t>(n_, 0)};
  double trace = 0.0;
  for (std::size_t i = 0; i < n_; ++i) trace += matrix_[i * n_ + i];
  if (!(trace > 0.0) || !std::isfinite(trace)) return out;
  std::vector<double> h(n_ * n_), w(n_, 0.0);
  for (std::size_t i = 0; i < n_; ++i)
    for (std::size_t j = 0; j <= i; ++j) h[i * n_ + j] = h[j * n_ + i] = matrix_[i * n_ + j];
  for (std::size_t i = 0; i < n_; ++i)
    h[i * n_ + i] += 1e-6 * trace / static_cast<double>(n_) + 1e-6 * static_cast<double>(rows_);
  invert(h, n_);
  double largest = 0.0;
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t j = 0; j < n_; ++j) w[i] += h[i * n_ + j] * right_[j];
    largest = std::max(largest, std::abs(w[i]));
  }
  if (!(largest > 0.0) || !std::isfinite(largest)) return out;
  out.scale = static_cast<float>(largest / 127.0);
  const double scale = out.scale;
  std::vector<std::size_t> order(n_);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return std::abs(w[a]) > std::abs(w[b]); });
  std::vector<double> column(n_);
  for (const auto k : order) {
    const double steps = std::clamp(std::rint(w[k] / scale), -127.0, 127.0);
    out.steps[k] = static_cast<std::int8_t>(steps);
    const double diagonal = h[k * n_ + k];
    if (!(diagonal > 0.0)) continue;
    for (std::size_t i = 0; i < n_; ++i) column[i] = h[i * n_ + k];
    const double off = (w[k] - steps * scale) / diagonal;
    for (std::size_t i = 0; i < n_; ++i) w[i] -= off * column[i];
    for (std::size_t i = 0; i < n_; ++i) {
      if (column[i] == 0.0) continue;
      const double f = column[i] / diagonal;
      for (std::size_t j = 0; j < n_; ++j) h[i * n_ + j] -= f * column[j];
    }
    for (std::size_t i = 0; i < n_; ++i) h[i * n_ + k] = h[k * n_ + i] = 0.0;
  }
  return out;
}

}  // namespace cambium::lowp
