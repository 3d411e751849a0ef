#include "plugins/cosmo/rivals/statistics.hpp"

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

std::vector<double> moments_of(std::span<const double> counts) {
  std::vector<double> logs;
  for (const double c : counts) logs.push_back(std::log1p(c));
  const double mean = mean_of(logs), square = std::max(moment(logs, mean, 2), 1e-100), width = std::sqrt(square);
  const double plain = moment(counts, mean_of(counts), 2);
  return {mean, width, moment(logs, mean, 3) / (width * width * width), moment(logs, mean, 4) / (square * square) - 3.0,
          0.5 * std::log(std::max(plain, 1e-300))};
}

std::vector<std::int64_t> scales_of(std::int64_t cells) {
  std::vector<std::int64_t> out;
  for (const std::int64_t edge : {1, 2, 4})
    if (cells % edge == 0 && cells / edge >= 2) out.push_back(edge);
  return out;
}

std::vector<double> moments_at_scales(std::span<const double> counts, std::int64_t cells) {
  std::vector<double> out;
  for (const auto edge : scales_of(cells)) {
    const auto n = cells / edge;
    std::vector<double> means(static_cast<std::size_t>(n * n * n), 0.0);
    for (std::int64_t i = 0; i < cells * cells * cells; ++i) {
      const auto x = i / (cells * cells) / edge, y = i / cells % cells / edge, z = i % cells / edge;
      means[static_cast<std::size_t>((x * n + y) * n + z)] +=
          counts[static_cast<std::size_t>(i)] / static_cast<double>(edge * edge * edge);
    }
    const auto moments = moments_of(means);
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
    if (error < least) least = error, penalty_ = penalty;
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
