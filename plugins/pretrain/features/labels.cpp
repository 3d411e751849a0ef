#include "plugins/pretrain/features/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/key_error.hpp"
#include "core/numerics/symmetric_eigen.hpp"
#include "plugins/pretrain/archive/streams.hpp"
#include "plugins/pretrain/features/similar.hpp"

namespace cambium::pretrain {

static std::int64_t count_of(std::span<const std::int64_t> classes) {
  return *std::max_element(classes.begin(), classes.end()) + 1;
}

std::vector<std::int64_t> nearest_classes(const Matrix& known, std::span<const std::int64_t> classes,
                                          const Matrix& queries, std::int64_t neighbours) {
  constexpr double sharpness = 0.07;
  std::vector<std::int64_t> out(queries.rows);
  const auto count = static_cast<std::size_t>(count_of(classes));
  for_each_query(known, queries, 0, queries.rows, [&](std::int64_t query, std::span<const double> similar) {
    std::vector<double> votes(count, 0.0);
    for (const auto k : largest(similar, neighbours)) votes[classes[k]] += std::exp((similar[k] - 1.0) / sharpness);
    out[query] = std::max_element(votes.begin(), votes.end()) - votes.begin();
  });
  return out;
}

namespace {

/// Ridge fits of rows x to centred targets by the smaller of the two normal equations, through an eigendecomposition
/// that is shared by all ridges.
class RidgeFits {
 public:
  RidgeFits(const Matrix& x, const Matrix& targets) : x_(x), by_rows_(x.rows < x.columns) {
    vectors_ = by_rows_ ? product_with_transposed(x, x) : product_of_transposed(x, x);
    values_.resize(vectors_.rows);
    symmetric_eigenvectors(static_cast<int>(vectors_.rows), vectors_.values.data(), values_.data());
    for (double& value : values_) value = std::max(0.0, value);
    side_ = product(vectors_, by_rows_ ? targets : product_of_transposed(x, targets));
    along_ = by_rows_ ? Matrix() : product_with_transposed(x, vectors_);
  }
  Matrix weights(double ridge) const {
    Matrix side = side_;
    for (std::int64_t k = 0; k < side.rows; ++k)
      for (double& value : side.row(k)) value /= values_[k] + ridge;
    const Matrix solved = product_of_transposed(vectors_, side);
    return by_rows_ ? product_of_transposed(x_, solved) : solved;
  }
  /// Leverage of each row (the weight of its own target in its fitted value), including that of the mean.
  std::vector<double> own_shares(double ridge) const {
    std::vector<double> out(x_.rows, 1.0 / static_cast<double>(x_.rows));
    for (std::int64_t i = 0; i < x_.rows; ++i)
      for (std::int64_t k = 0; k < vectors_.rows; ++k) {
        const double value = values_[k], v = by_rows_ ? vectors_(k, i) : along_(i, k);
        out[i] += v * v * (by_rows_ ? value : 1.0) / (value + ridge);
      }
    return out;
  }

 private:
  const Matrix& x_;
  bool by_rows_ = false;
  Matrix vectors_, side_, along_;
  std::vector<double> values_;
};

}  // namespace

/// The ridge with the lowest leave-one-out squared error, in closed form.
static double chosen_ridge(const RidgeFits& fits, const Matrix& x, const Matrix& targets) {
  const auto n = static_cast<double>(x.rows);
  double best = std::numeric_limits<double>::infinity(), out = 0.0;
  for (const double ridge : {1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0}) {
    const Matrix fitted = product(x, fits.weights(ridge * n));
    const auto own = fits.own_shares(ridge * n);
    double error = 0.0;
    for (std::int64_t i = 0; i < x.rows; ++i)
      for (std::int64_t c = 0; c < targets.columns; ++c)
        error += std::pow((targets(i, c) - fitted(i, c)) / std::max(1e-12, 1.0 - own[i]), 2);
    if (error < best) {
      best = error;
      out = ridge;
    }
  }
  return out;
}

std::vector<std::int64_t> linear_classes(const Matrix& known, std::span<const std::int64_t> classes,
                                         const Matrix& queries, std::optional<double> ridge) {
  const auto count = count_of(classes);
  Matrix targets(known.rows, count);
  for (std::int64_t k = 0; k < known.rows; ++k) targets(k, classes[k]) = 1.0;
  const auto mean = column_means(targets);
  const Matrix x = standardised(known, known), centred = minus(targets, mean);
  const RidgeFits fits(x, centred);
  const double taken = ridge ? *ridge : chosen_ridge(fits, x, centred);
  const Matrix weights = fits.weights(taken * static_cast<double>(known.rows));
  const Matrix scores = product(standardised(queries, known), weights);
  std::vector<std::int64_t> out;
  for (std::int64_t k = 0; k < scores.rows; ++k) {
    std::int64_t best = 0;
    const auto score = [&](std::int64_t c) { return scores(k, c) + mean[c]; };
    for (std::int64_t c = 1; c < count; ++c)
      if (score(c) > score(best)) best = c;
    out.push_back(best);
  }
  return out;
}

std::vector<std::int64_t> most_frequent(std::span<const std::int64_t> classes, std::size_t queries) {
  std::vector<std::int64_t> count(count_of(classes), 0);
  for (const auto c : classes) ++count[c];
  return std::vector<std::int64_t>(queries, std::max_element(count.begin(), count.end()) - count.begin());
}

double share_right(std::span<const std::int64_t> found, std::span<const std::int64_t> truth) {
  std::int64_t right = 0;
  for (std::size_t k = 0; k < truth.size(); ++k) right += found[k] == truth[k];
  return static_cast<double>(right) / static_cast<double>(truth.size());
}

std::vector<std::int64_t> few_of_each(std::span<const std::int64_t> classes, std::int64_t per_class, std::uint64_t seed,
                                      std::int64_t draw) {
  std::vector<std::vector<std::pair<double, std::int64_t>>> keys(count_of(classes));
  for (std::size_t k = 0; k < classes.size(); ++k)
    keys[classes[k]].emplace_back(Random4(seed, draws_stream, k, static_cast<std::uint64_t>(draw)).uniform(0),
                                  static_cast<std::int64_t>(k));
  std::vector<std::int64_t> out;
  for (std::size_t c = 0; c < keys.size(); ++c) {
    if (keys[c].empty()) continue;
    if (std::ssize(keys[c]) < per_class)
      throw KeyError(
          "probe.few", "labels_per_class",
          fmt::format("labels_per_class is {}, but class {} has {} samples; take fewer", per_class, c, keys[c].size()));
    std::sort(keys[c].begin(), keys[c].end());
    for (std::int64_t k = 0; k < per_class; ++k) out.push_back(keys[c][k].second);
  }
  return out;
}

}  // namespace cambium::pretrain
