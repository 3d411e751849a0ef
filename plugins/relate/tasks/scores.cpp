#include "plugins/relate/tasks/scores.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace cambium::relate {

namespace {

/// Prefix sums of counts by rank (Fenwick tree).
class Counts {
 public:
  explicit Counts(std::size_t ranks) : sums_(ranks + 1, 0) {}
  void add(std::size_t rank) {
    for (++rank; rank < sums_.size(); rank += rank & (~rank + 1)) ++sums_[rank];
  }
  /// Number of added ranks below this one.
  std::int64_t below(std::size_t rank) const {
    std::int64_t out = 0;
    for (; rank > 0; rank &= rank - 1) out += sums_[rank];
    return out;
  }

 private:
  std::vector<std::int64_t> sums_;
};

}  // namespace

double concordance(std::span<const double> truth, std::span<const double> predicted) {
  const std::size_t n = truth.size();
  if (std::any_of(predicted.begin(), predicted.end(), [](double x) { return std::isnan(x); }))
    return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> values(predicted.begin(), predicted.end());
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::vector<std::size_t> order(n), rank(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return truth[a] < truth[b]; });
  for (std::size_t k = 0; k < n; ++k)
    rank[k] = static_cast<std::size_t>(std::lower_bound(values.begin(), values.end(), predicted[k]) - values.begin());
  Counts seen(values.size());
  double good = 0.0, pairs = 0.0;
  for (std::size_t i = 0, j = 0; i < n; i = j) {
    while (j < n && truth[order[j]] == truth[order[i]]) ++j;
    for (std::size_t k = i; k < j; ++k) {
      const auto less = seen.below(rank[order[k]]), equal = seen.below(rank[order[k]] + 1) - less;
      good += static_cast<double>(less) + 0.5 * static_cast<double>(equal);
      pairs += static_cast<double>(i);
    }
    for (std::size_t k = i; k < j; ++k) seen.add(rank[order[k]]);
  }
  return pairs > 0.0 ? good / pairs : std::numeric_limits<double>::quiet_NaN();
}

double mean_squared_error(std::span<const double> truth, std::span<const double> predicted) {
  double sum = 0.0;
  for (std::size_t k = 0; k < truth.size(); ++k) sum += (truth[k] - predicted[k]) * (truth[k] - predicted[k]);
  return sum / static_cast<double>(truth.size());
}

double share_of_first(std::span<const double> truth, std::span<const double> first, std::span<const double> second) {
  double along = 0.0, square = 0.0;
  for (std::size_t k = 0; k < truth.size(); ++k) {
    const double apart = first[k] - second[k];
    along += (truth[k] - second[k]) * apart;
    square += apart * apart;
  }
  return square > 0.0 ? std::clamp(along / square, 0.0, 1.0) : 0.5;
}

double area_under_curve(std::span<const double> truth, std::span<const double> predicted, double threshold) {
  std::vector<double> above;
  for (const double x : truth) above.push_back(x > threshold ? 1.0 : 0.0);
  return concordance(above, predicted);
}

double log_loss(std::span<const double> truth, std::span<const double> probability) {
  double sum = 0.0;
  for (std::size_t k = 0; k < truth.size(); ++k) {
    const double p = std::clamp(probability[k], 1e-12, 1.0 - 1e-12);
    sum -= truth[k] * std::log(p) + (1.0 - truth[k]) * std::log(1.0 - p);
  }
  return sum / static_cast<double>(truth.size());
}

}  // namespace cambium::relate
