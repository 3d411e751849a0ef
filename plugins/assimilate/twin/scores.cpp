#include "plugins/assimilate/twin/scores.hpp"

#include <cmath>

namespace cambium::assimilate {
namespace {

template <class F>
double mean_over_scored(const StateSpace& space, const F& value) {
  double sum = 0.0, count = 0.0;
  for (std::size_t f = 0; f < space.fields.size(); ++f) {
    if (space.fields[f].follows) continue;
    for (std::size_t e = f * space.places(); e < (f + 1) * space.places(); ++e) sum += value(e);
    count += static_cast<double>(space.places());
  }
  return sum / count;
}

}  // namespace

double rmse(const StateSpace& space, std::span<const double> estimate, std::span<const double> truth) {
  return std::sqrt(
      mean_over_scored(space, [&](std::size_t e) { return (estimate[e] - truth[e]) * (estimate[e] - truth[e]); }));
}

double spread(const StateSpace& space, std::span<const double> variance) {
  return std::sqrt(mean_over_scored(space, [&](std::size_t e) { return variance[e]; }));
}

void FieldErrors::add(const StateSpace& space, std::span<const double> forecast_mean,
                      std::span<const double> analysis_mean, std::span<const double> truth_values) {
  for (auto* part : {&forecast, &analysis, &truth}) part->resize(space.fields.size());
  for (std::size_t e = 0; e < space.elements(); ++e) {
    const auto f = e / space.places();
    forecast[f] += (forecast_mean[e] - truth_values[e]) * (forecast_mean[e] - truth_values[e]);
    analysis[f] += (analysis_mean[e] - truth_values[e]) * (analysis_mean[e] - truth_values[e]);
    truth[f] += truth_values[e] * truth_values[e];
  }
}

Average average(std::span<const double> time, std::span<const double> values, double from) {
  std::vector<double> kept;
  for (std::size_t k = 0; k < time.size(); ++k)
    if (time[k] > from && std::isfinite(values[k])) kept.push_back(values[k]);
  Average out;
  if (kept.empty()) return out;
  for (const double value : kept) out.mean += value / static_cast<double>(kept.size());
  constexpr std::size_t batches = 10;
  if (kept.size() < 2 * batches) return out;
  double squares = 0.0;
  for (std::size_t b = 0; b < batches; ++b) {
    const auto first = kept.size() * b / batches, last = kept.size() * (b + 1) / batches;
    double mean = 0.0;
    for (auto k = first; k < last; ++k) mean += kept[k] / static_cast<double>(last - first);
    squares += (mean - out.mean) * (mean - out.mean);
  }
  out.error = std::sqrt(squares / (batches * (batches - 1.0)));
  return out;
}

void count_ranks(std::span<const double> seen, std::span<const double> observed, std::span<const double> errors,
                 std::vector<std::int64_t>& counts) {
  const auto p = observed.size(), members = seen.size() / p;
  counts.resize(members + 1);
  for (std::size_t i = 0; i < p; ++i) {
    std::size_t below = 0;
    for (std::size_t m = 0; m < members; ++m)
      if (seen[m * p + i] + errors[m * p + i] < observed[i]) ++below;
    ++counts[below];
  }
}

}  // namespace cambium::assimilate
