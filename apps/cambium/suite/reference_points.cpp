#include "apps/cambium/suite/reference_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "apps/cambium/suite/student.hpp"
#include "core/base/error.hpp"

namespace cambium::train {

double olympic_mean(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::ptrdiff_t cut = values.size() > 2 ? 1 : 0;
  const double sum = std::accumulate(values.begin() + cut, values.end() - cut, 0.0);
  return sum / static_cast<double>(std::ssize(values) - 2 * cut);
}

double deviation_of(const std::vector<double>& values) {
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double squares = 0.0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

double least_acceptable_mean(double mean, double deviation, std::int64_t n_ref, int runs) {
  if (deviation == 0.0) return mean;
  constexpr double width = 1e-4, chance = 0.05;
  const double n = static_cast<double>(n_ref), m = runs - 2;
  const double scale = deviation * std::sqrt(1.0 / n + 1.0 / m);
  double low = 0.0, high = mean, middle = mean / 2.0;
  while (high - low > width) {
    (student_cdf((middle - mean) / scale, n + m - 2.0) > chance ? high : low) = middle;
    middle = (low + high) / 2.0;
  }
  return middle;
}

static double line_at(const ReferencePoint& a, const ReferencePoint& b, std::int64_t batch, double at_a, double at_b) {
  const double share = static_cast<double>(batch - a.batch) / static_cast<double>(b.batch - a.batch);
  return at_a + share * (at_b - at_a);
}

static void prune(std::vector<ReferencePoint>& points) {
  const auto fastest =
      std::min_element(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.mean < b.mean; });
  std::vector<ReferencePoint*> kept;
  for (auto& point : points) {
    point.pruned = point.batch < fastest->batch;
    if (!point.pruned) kept.push_back(&point);
  }
  for (std::ptrdiff_t k = 1; k < std::ssize(kept) - 1; ++k) {
    const ReferencePoint &before = *kept[k - 1], &after = *kept[k + 1];
    ReferencePoint& here = *kept[k];
    if (here.mean <= line_at(before, after, here.batch, before.mean, after.mean)) continue;
    here.pruned = true;
    kept.erase(kept.begin() + k);
    --k;
  }
}

std::vector<ReferencePoint> reference_points(std::vector<ReferencePoint> points, int runs) {
  for (auto& p : points) {
    p.runs = std::ssize(p.epochs);
    p.mean = olympic_mean(p.epochs);
    p.deviation = deviation_of(p.epochs);
    p.least_mean = least_acceptable_mean(p.mean, p.deviation, p.runs - 2, runs);
  }
  std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.batch < b.batch; });
  if (!points.empty()) prune(points);
  return points;
}

std::vector<ReferencePoint> read_reference_points(const std::string& path, int runs) {
  std::ifstream file(path);
  if (!file)
    throw InputError(fmt::format("cannot read the reference points '{}'; give a file rcps_BENCHMARK.json", path));
  const auto json = nlohmann::json::parse(file, nullptr, false);
  std::vector<ReferencePoint> points;
  if (json.is_object())
    for (const auto& [name, point] : json.items()) {
      if (!point.is_object() || !point.contains("BS") || !point["BS"].is_number() ||
          !point.contains("Epochs to converge") || !point["Epochs to converge"].is_array() ||
          point["Epochs to converge"].size() < 3) {
        points.clear();
        break;
      }
      ReferencePoint p;
      p.name = name;
      p.batch = point["BS"].get<std::int64_t>();
      p.epochs = point["Epochs to converge"].get<std::vector<double>>();
      points.push_back(std::move(p));
    }
  if (points.empty())
    throw InputError(
        fmt::format("'{}' holds no reference points: each has a batch size \"BS\" and at least three "
                    "\"Epochs to converge\"",
                    path));
  return reference_points(std::move(points), runs);
}

std::optional<ReferencePoint> point_at(const std::vector<ReferencePoint>& points, std::int64_t batch, int runs) {
  const ReferencePoint *below = nullptr, *over = nullptr;
  for (const auto& p : points) {
    if (p.pruned) continue;
    if (p.batch == batch) return p;
    if (p.batch < batch) below = &p;
    if (p.batch > batch && !over) over = &p;
  }
  if (!below || !over) return {};
  ReferencePoint out;
  out.name = fmt::format("between {} and {}", below->name, over->name);
  out.batch = batch;
  out.runs = 2 * runs;
  out.mean = line_at(*below, *over, batch, below->mean, over->mean);
  out.deviation = line_at(*below, *over, batch, below->deviation, over->deviation);
  out.least_mean = least_acceptable_mean(out.mean, out.deviation, out.runs - 2, runs);
  return out;
}

Convergence compare_convergence(std::vector<double> epochs, const ReferencePoint& point) {
  Convergence out;
  out.mean = olympic_mean(std::move(epochs));
  out.too_fast = out.mean < point.least_mean;
  if (!out.too_fast && out.mean < point.mean) out.time_factor = point.mean / out.mean;
  return out;
}

}  // namespace cambium::train
