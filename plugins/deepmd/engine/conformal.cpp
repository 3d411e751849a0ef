#include "plugins/deepmd/engine/conformal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/constants.hpp"
#include "core/base/error.hpp"
#include "core/parallel/random.hpp"

namespace cambium::deepmd {

int least_frames(double level) { return static_cast<int>(std::ceil(level / (1.0 - level) - 1e-9)); }

double conformal_quantile(const std::vector<std::vector<double>>& scores_by_frame, double level) {
  std::vector<std::pair<double, double>> weighted;  // score, and its weight among all frames including the new one
  const double frames = static_cast<double>(scores_by_frame.size()) + 1.0;
  for (const auto& scores : scores_by_frame)
    for (const double score : scores) weighted.emplace_back(score, 1.0 / (frames * static_cast<double>(scores.size())));
  std::sort(weighted.begin(), weighted.end());
  double reached = 0.0;
  for (const auto& [score, weight] : weighted)
    if ((reached += weight) >= level - 1e-12) return score;
  return std::numeric_limits<double>::infinity();
}

double BoundCurve::operator()(double d) const {
  const auto last = deviation.size() - 1;
  if (last == 0 || d >= deviation[last]) return bound[last] * d / deviation[last];
  if (d <= deviation[0]) return bound[0];
  const auto k =
      static_cast<std::size_t>(std::upper_bound(deviation.begin(), deviation.end(), d) - deviation.begin()) - 1;
  const double share = std::log(d / deviation[k]) / std::log(deviation[k + 1] / deviation[k]);
  return bound[k] * std::pow(bound[k + 1] / bound[k], share);
}

namespace {

double quantile(std::vector<double> values, double level) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(level * static_cast<double>(values.size())));
  return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

/// Quantiles of the errors in groups of atoms with similar deviations, made monotonically increasing.
BoundCurve shape_of(std::span<const HeldOutFrame> frames, std::span<const std::size_t> chosen, double level) {
  constexpr std::size_t most_knots = 8, atoms_per_knot = 200;
  std::vector<std::pair<double, double>> pairs;
  for (const std::size_t k : chosen)
    for (std::size_t i = 0; i < frames[k].error.size(); ++i)
      if (frames[k].deviation[i] > 0.0) pairs.emplace_back(frames[k].deviation[i], frames[k].error[i]);
  std::sort(pairs.begin(), pairs.end());
  BoundCurve out;
  const std::size_t knots = std::min(most_knots, pairs.size() / atoms_per_knot);
  for (std::size_t k = 0; k < knots; ++k) {
    const std::size_t begin = pairs.size() * k / knots, end = pairs.size() * (k + 1) / knots;
    std::vector<double> errors;
    for (std::size_t i = begin; i < end; ++i) errors.push_back(pairs[i].second);
    const double middle = pairs[(begin + end) / 2].first, bound = quantile(errors, level);
    if (!out.deviation.empty() && middle <= out.deviation.back()) continue;
    if (!(bound > 0.0)) continue;
    out.bound.push_back(out.bound.empty() ? bound : std::max(bound, out.bound.back()));
    out.deviation.push_back(middle);
  }
  return out.deviation.size() > 1 ? out : BoundCurve{{1.0}, {1.0}};
}

}  // namespace

BoundCurve calibrated(std::span<const HeldOutFrame> frames, double level, std::uint64_t seed) {
  const auto least = static_cast<std::size_t>(least_frames(level));
  if (frames.size() < least)
    throw InputError(
        fmt::format("{} held-out frame(s) are too few for a level of {:g}, which takes {} at least; give more systems, "
                    "or a lower level",
                    frames.size(), level, least));
  std::vector<std::size_t> order(frames.size());
  std::iota(order.begin(), order.end(), 0);
  const auto drawn = [&](std::size_t k) { return Random4(seed, Stream::hold_out, k, 1).uniform(0); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return drawn(a) < drawn(b); });
  const std::size_t shaping = frames.size() < 4 * least ? 0 : frames.size() / 3;
  BoundCurve curve = shape_of(frames, std::span(order).first(shaping), level);
  std::vector<std::vector<double>> scores;
  for (const std::size_t k : std::span(order).subspan(shaping)) {
    scores.emplace_back();
    for (std::size_t i = 0; i < frames[k].error.size(); ++i) {
      const double error = frames[k].error[i], bound = curve(frames[k].deviation[i]);
      scores.back().push_back(error > 0.0 ? error / bound : 0.0);
    }
  }
  const double scale = conformal_quantile(scores, level);
  if (!std::isfinite(scale))
    throw InputError(
        "the models of the committee agree to the last digit where they are wrong: they are one model, whose deviation "
        "bounds nothing; train them with different seeds");
  for (double& bound : curve.bound) bound *= scale;
  return curve;
}

double gaussian_bound(double deviation, double level) {
  // Distribution of the length of a vector of three standard normal components (Maxwell's), inverted by bisection.
  const auto below = [](double x) {
    return std::erf(x / std::sqrt(2.0)) - std::sqrt(2.0 / constants::pi) * x * std::exp(-0.5 * x * x);
  };
  double low = 0.0, high = 40.0;
  for (int k = 0; k < 100; ++k) (below(0.5 * (low + high)) < level ? low : high) = 0.5 * (low + high);
  return deviation * low / std::sqrt(3.0);
}

}  // namespace cambium::deepmd
