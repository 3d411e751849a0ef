#include "plugins/deepmd/training/embedding_table.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::deepmd {

void EmbeddingTable::place_nodes(std::span<const int> cells) {
  first_.clear();
  x_.clear();
  half_.clear();
  for (std::size_t n = 0; n < cells.size(); ++n) {
    first_.push_back(static_cast<int>(half_.size()));
    const double half = half_width(n);
    for (int k = 0; k < parts(n); ++k) {
      const double centre = cells[n] * cell + (2 * k + 1) * half;
      for (double t : Hermite::node) x_.push_back(centre + half * t);
      half_.push_back(half);
    }
  }
}

/// Coefficients of all intervals from values and slopes at their nodes.
void EmbeddingTable::interpolate() {
  const auto& matrix = Hermite::from_data();
  pass_.reserve(static_cast<std::int64_t>(x_.size()));
  pass_.forward(network_.layers(), x_.data(), 0, static_cast<int>(x_.size()));
  coefficients_.assign(half_.size() * static_cast<std::size_t>(Hermite::terms * width_), 0.0);
  double* out = coefficients_.data();
  for (std::size_t k = 0; k < half_.size(); ++k)
    for (const auto& row : matrix) {
      for (std::size_t i = 0; i < Hermite::nodes; ++i) {
        const int node = static_cast<int>(k * Hermite::nodes + i);
        const double *value = pass_.value(node), *slope = pass_.slope(node),
                     of_slope = row[Hermite::nodes + i] * half_[k];
        for (int m = 0; m < width_; ++m) out[m] += row[i] * value[m] + of_slope * slope[m];
      }
      out += width_;
    }
}

double EmbeddingTable::largest_slope() const {
  double largest = 0.0;
  for (int node = 0; node < std::ssize(x_); ++node)
    for (int m = 0; m < width_; ++m) largest = std::max(largest, std::abs(pass_.slope(node)[m]));
  return largest;
}

/// Estimated error of the slope: Chebyshev coefficients decay like a power of some q; the first truncated one is about
/// the last one times q. Hermite interpolation has four times the error of the best approximation, and the slope of T_8
/// is up to 64.
double EmbeddingTable::error(int interval, double half) const {
  const double *c5 = coefficients(interval) + 5 * width_, *c7 = c5 + 2 * width_;
  double fifth = 0.0, seventh = 0.0;
  for (int m = 0; m < width_; ++m) {
    fifth = std::max(fifth, std::abs(c5[m] / 16.0 + c7[m] * (7.0 / 64.0)));
    seventh = std::max(seventh, std::abs(c7[m] / 64.0));
  }
  const double q = seventh < fifth ? std::sqrt(seventh / fifth) : 1.0;
  return 4.0 * 64.0 * seventh * q / half;
}

void EmbeddingTable::divide(std::span<const int> cells, double tolerance) {
  level_.assign(cells.size(), 0);
  double scale = -1.0;
  for (bool divided = true; divided;) {
    divided = false;
    place_nodes(cells);
    interpolate();
    if (scale < 0.0) scale = largest_slope();
    for (std::size_t n = 0; n < cells.size(); ++n) {
      if (level_[n] == most_level) continue;
      double largest = 0.0;
      for (int k = 0; k < parts(n); ++k) largest = std::max(largest, error(first_[n] + k, half_width(n)));
      // Not "<=", so that NaN weights end the loop.
      if (largest > tolerance * scale) ++level_[n], divided = true;
    }
  }
}

void EmbeddingTable::backward_nodes(std::span<const double> adjoint) {
  constexpr int block = EmbeddingPass<double>::block / Hermite::nodes;
  const auto& matrix = Hermite::from_data();
  for (int from = 0; from < intervals(); from += block) {
    const int to = std::min(intervals(), from + block);
    for (int node = from * Hermite::nodes; node < to * Hermite::nodes; ++node) {
      const auto k = static_cast<std::size_t>(node / Hermite::nodes),
                 i = static_cast<std::size_t>(node % Hermite::nodes);
      double *value = pass_.value_bar(node - from * Hermite::nodes),
             *slope = pass_.slope_bar(node - from * Hermite::nodes);
      std::fill_n(value, width_, 0.0), std::fill_n(slope, width_, 0.0);
      for (std::size_t j = 0; j < Hermite::terms; ++j) {
        const double* bar = &adjoint[(k * Hermite::terms + j) * static_cast<std::size_t>(width_)];
        const double of_value = matrix[j][i], of_slope = matrix[j][Hermite::nodes + i] * half_[k];
        for (int m = 0; m < width_; ++m) {
          value[m] += of_value * bar[m];
          slope[m] += of_slope * bar[m];
        }
      }
    }
    pass_.backward(network_.layers(), x_.data(), from * Hermite::nodes, to * Hermite::nodes);
  }
}

}  // namespace cambium::deepmd
