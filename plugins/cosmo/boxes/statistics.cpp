#include "plugins/cosmo/boxes/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/numerics/symmetric_eigen.hpp"

namespace cambium::cosmo {
namespace {

double mean_of(std::span<const double> values) {
  double sum = 0.0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

/// Mean of (v - centre)^power.
double moment(std::span<const double> values, double centre, int power) {
  double sum = 0.0;
  for (const double v : values) sum += std::pow(v - centre, power);
  return sum / static_cast<double>(values.size());
}

/// Means over the cells of the N values that `of` computes from a count and its logarithm. Eight partial sums of each
/// allow SIMD.
template <std::size_t N, class T, class Of>
std::array<double, N> means_over(std::span<const T> counts, std::span<const T> logs, const Of& of) {
  constexpr std::size_t lanes = 8;
  double sums[N][lanes] = {};
  const std::size_t n = counts.size(), even = n / lanes * lanes;
  for (std::size_t i = 0; i < even; i += lanes)
    for (std::size_t l = 0; l < lanes; ++l) {
      const auto values = of(static_cast<double>(counts[i + l]), static_cast<double>(logs[i + l]));
      for (std::size_t k = 0; k < N; ++k) sums[k][l] += values[k];
    }
  std::array<double, N> out{};
  for (std::size_t i = even; i < n; ++i) {
    const auto values = of(static_cast<double>(counts[i]), static_cast<double>(logs[i]));
    for (std::size_t k = 0; k < N; ++k) sums[k][0] += values[k];
  }
  for (std::size_t k = 0; k < N; ++k) {
    for (std::size_t l = 0; l < lanes; ++l) out[k] += sums[k][l];
    out[k] /= static_cast<double>(n);
  }
  return out;
}

/// The spectrum of the features' covariance and their products with the targets: any penalty is then cheap.
struct Fit {
  std::size_t n;
  std::vector<double> vectors, values;
  Table products;

  Fit(const Table& x, const Table& y, std::size_t rows)
      : n(x[0].size()), vectors(n * n, 0.0), values(n), products(y[0].size(), std::vector<double>(n, 0.0)) {
    const double share = 1.0 / static_cast<double>(rows);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) vectors[i * n + j] += share * x[r][i] * x[r][j];
        for (std::size_t t = 0; t < products.size(); ++t) products[t][i] += share * x[r][i] * y[r][t];
      }
    symmetric_eigenvectors(static_cast<int>(n), vectors.data(), values.data());
  }
  std::vector<double> weights(std::size_t target, double penalty) const {
    std::vector<double> out(n, 0.0);
    for (std::size_t j = 0; j < n; ++j) {
      double along = 0.0;
      for (std::size_t i = 0; i < n; ++i) along += vectors[j * n + i] * products[target][i];
      along /= std::max(values[j], 0.0) + penalty;
      for (std::size_t i = 0; i < n; ++i) out[i] += along * vectors[j * n + i];
    }
    return out;
  }
};

}  // namespace

template <class T>
std::array<double, 5> moments_of(std::span<const T> counts, std::span<const T> logs) {
  const auto [log_mean, count_mean] = means_over<2>(counts, logs, [](double count, double log) {
    return std::array{log, count};
  });
  const auto [square, cube, fourth, plain] = means_over<4>(counts, logs, [&](double count, double log) {
    const double off = log - log_mean, more = count - count_mean;
    return std::array{off * off, off * off * off, off * off * off * off, more * more};
  });
  const double spread = std::max(square, 1e-100), width = std::sqrt(spread);
  return {log_mean, width, cube / (width * spread), fourth / (spread * spread) - 3.0,
          0.5 * std::log(std::max(plain, 1e-300))};
}

std::array<double, 5> moments_of(std::span<const double> counts) {
  std::vector<double> logs;
  for (const double c : counts) logs.push_back(std::log1p(c));
  return moments_of<double>(counts, logs);
}

template <class T>
std::vector<T> halved(std::span<const T> counts, std::int64_t cells) {
  const auto half = cells / 2;
  std::vector<T> out(half * half * half);
  auto to = out.begin();
  for (std::int64_t x = 0; x < half; ++x)
    for (std::int64_t y = 0; y < half; ++y) {
      const T* first = counts.data() + 2 * (x * cells + y) * cells;
      const T *second = first + cells, *third = first + cells * cells, *fourth = third + cells;
      for (std::int64_t z = 0; z < cells; z += 2)
        *to++ = T(0.125) * (first[z] + first[z + 1] + second[z] + second[z + 1] + third[z] + third[z + 1] + fourth[z] +
                            fourth[z + 1]);
    }
  return out;
}

template std::array<double, 5> moments_of(std::span<const float>, std::span<const float>);
template std::array<double, 5> moments_of(std::span<const double>, std::span<const double>);
template std::vector<float> halved(std::span<const float>, std::int64_t);
template std::vector<double> halved(std::span<const double>, std::int64_t);

std::vector<std::int64_t> scales_of(std::int64_t cells) {
  std::vector<std::int64_t> out;
  for (const std::int64_t edge : {1, 2, 4})
    if (cells % edge == 0 && cells / edge >= 2) out.push_back(edge);
  return out;
}

std::vector<double> moments_at_scales(std::span<const double> counts, std::int64_t cells) {
  std::vector<double> now(counts.begin(), counts.end()), out;
  for (const auto edge : scales_of(cells)) {
    if (edge > 1) now = halved<double>(now, 2 * cells / edge);
    const auto moments = moments_of(now);
    out.insert(out.end(), moments.begin(), moments.end());
  }
  return out;
}

Ridge::Ridge(const Table& features, const Table& targets) {
  const std::size_t rows = features.size(), n = features[0].size(), many = targets[0].size();
  Table x = features, y = targets;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> column;
    for (const auto& row : features) column.push_back(row[i]);
    mean_.push_back(mean_of(column));
    const double width = std::sqrt(moment(column, mean_.back(), 2));
    scale_.push_back(width > 0.0 ? width : 1.0);
    for (auto& row : x) row[i] = (row[i] - mean_[i]) / scale_[i];
  }
  for (std::size_t t = 0; t < many; ++t) {
    std::vector<double> column;
    for (const auto& row : targets) column.push_back(row[t]);
    offset_.push_back(mean_of(column));
    for (auto& row : y) row[t] -= offset_[t];
  }
  const std::size_t shown = rows - std::max<std::size_t>(1, rows / 5);
  const Fit part(x, y, shown), whole(x, y, rows);
  double least = std::numeric_limits<double>::infinity();
  for (double penalty = 1e-8; penalty < 2.0; penalty *= 10.0) {
    double error = 0.0;
    for (std::size_t t = 0; t < many; ++t) {
      const auto w = part.weights(t, penalty);
      for (std::size_t r = shown; r < rows; ++r) {
        double found = 0.0;
        for (std::size_t i = 0; i < n; ++i) found += w[i] * x[r][i];
        error += (found - y[r][t]) * (found - y[r][t]);
      }
    }
    if (error < least) {
      least = error;
      penalty_ = penalty;
    }
  }
  for (std::size_t t = 0; t < many; ++t) weights_.push_back(whole.weights(t, penalty_));
}

std::vector<double> Ridge::operator()(std::span<const double> features) const {
  auto out = offset_;
  for (std::size_t t = 0; t < out.size(); ++t)
    for (std::size_t i = 0; i < features.size(); ++i) out[t] += weights_[t][i] * (features[i] - mean_[i]) / scale_[i];
  return out;
}

std::vector<double> mean_absolute_errors(const Table& found, const Table& truth) {
  std::vector<double> out(truth.at(0).size(), 0.0);
  for (std::size_t r = 0; r < truth.size(); ++r)
    for (std::size_t t = 0; t < out.size(); ++t)
      out[t] += std::abs(found[r][t] - truth[r][t]) / static_cast<double>(truth.size());
  return out;
}

}  // namespace cambium::cosmo
