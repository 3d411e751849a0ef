#include "plugins/superres/datasets/baselines.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/numerics/symmetric_eigen.hpp"
#include "plugins/superres/datasets/overlap.hpp"

namespace cambium::superres {
namespace {

constexpr std::size_t per_point = 16;
constexpr std::size_t unknowns = 2 * per_point;

/// Mean over 2 h + 1 points along x and 2 v + 1 along z, fewer at the ends of z and of an x that is not periodic.
std::vector<double> box_mean(const std::vector<double>& a, const PlumeImage& image, std::int64_t h, std::int64_t v) {
  std::vector<double> out(a.size());
  for (std::int64_t x = 0; x < image.nx; ++x)
    for (std::int64_t z = 0; z < image.nz; ++z) {
      double sum = 0.0, count = 0.0;
      for (std::int64_t i = x - h; i <= x + h; ++i) {
        if (!image.wraps && (i < 0 || i >= image.nx)) continue;
        const std::int64_t column = (i % image.nx + image.nx) % image.nx * image.nz;
        for (std::int64_t j = std::max<std::int64_t>(0, z - v); j <= std::min(image.nz - 1, z + v); ++j) {
          sum += a[column + j];
          count += 1.0;
        }
      }
      out[x * image.nz + z] = sum / count;
    }
  return out;
}

/// Probabilities of the two kinds of plumes.
std::array<double, 2> probabilities(const double* row, const std::vector<double>& weights) {
  std::array<double, 2> s{};
  for (std::size_t c = 0; c < 2; ++c)
    for (std::size_t k = 0; k < per_point; ++k) s[c] += weights[c * per_point + k] * row[k];
  const double top = std::max({0.0, s[0], s[1]}), a = std::exp(s[0] - top), b = std::exp(s[1] - top),
               all = std::exp(-top) + a + b;
  return {a / all, b / all};
}

/// (matrix + ridge) x = right, by eigenvectors.
std::vector<double> solved(std::vector<double> matrix, const std::vector<double>& right, double ridge) {
  const std::size_t n = right.size();
  std::vector<double> values(n), out(n, 0.0);
  symmetric_eigenvectors(static_cast<int>(n), matrix.data(), values.data());
  for (std::size_t j = 0; j < n; ++j) {
    double along = 0.0;
    for (std::size_t i = 0; i < n; ++i) along += matrix[j * n + i] * right[i];
    along /= std::max(values[j], 0.0) + ridge;
    for (std::size_t i = 0; i < n; ++i) out[i] += along * matrix[j * n + i];
  }
  return out;
}

template <class F>
double mean_over(std::span<const PlumeImage> images, F&& found) {
  double sum = 0.0;
  for (const auto& image : images) sum += mean_overlap(found(image), image.classes);
  return sum / static_cast<double>(images.size());
}

}  // namespace

ThresholdBaseline::ThresholdBaseline(std::span<const PlumeImage> training) {
  const auto nz = static_cast<std::size_t>(training[0].nz);
  profile_.assign(nz, 0.0);
  double points = 0.0;
  for (const auto& image : training) {
    for (std::size_t k = 0; k < image.temperature.size(); ++k) profile_[k % nz] += image.temperature[k];
    points += static_cast<double>(image.nx);
  }
  for (auto& p : profile_) p /= points;
  std::vector<double> sizes;
  double squares = 0.0;
  for (const auto& image : training)
    for (const double t : off(image)) sizes.push_back(std::abs(t)), squares += t * t;
  deviation_ = std::sqrt(std::max(squares / static_cast<double>(sizes.size()), 1e-300));
  std::sort(sizes.begin(), sizes.end());
  double best = -1.0, best_least = 0.0;
  constexpr int tried = 40;
  for (int k = 0; k < tried; ++k) {
    least_ = sizes[sizes.size() * (tried + static_cast<std::size_t>(k)) / (2 * tried)];
    const double overlap = mean_over(training, *this);
    if (overlap > best) {
      best = overlap;
      best_least = least_;
    }
  }
  least_ = best_least;
}

std::vector<double> ThresholdBaseline::off(const PlumeImage& image) const {
  std::vector<double> out(image.temperature.begin(), image.temperature.end());
  for (std::size_t k = 0; k < out.size(); ++k) out[k] -= profile_[k % profile_.size()];
  return out;
}

std::vector<std::uint8_t> ThresholdBaseline::operator()(const PlumeImage& image) const {
  std::vector<std::uint8_t> out;
  for (const double t : off(image)) out.push_back(std::abs(t) <= least_ ? 0 : t > 0.0 ? 1 : 2);
  return out;
}

LogisticBaseline::LogisticBaseline(std::span<const PlumeImage> training, std::int64_t points) {
  const ThresholdBaseline means(training);
  profile_ = means.profile();
  deviation_ = means.deviation();
  const std::int64_t all = std::ssize(training) * training[0].nx * training[0].nz;
  const auto stride = static_cast<std::size_t>(std::max<std::int64_t>(1, all / points)) | 1;  // odd: covers all heights
  std::vector<double> rows;
  std::vector<std::uint8_t> classes;
  std::size_t at = 0;
  for (const auto& image : training) {
    const auto own = features(image);
    for (; at < image.classes.size(); at += stride) {
      rows.insert(rows.end(), own.begin() + static_cast<std::ptrdiff_t>(at * per_point),
                  own.begin() + static_cast<std::ptrdiff_t>((at + 1) * per_point));
      classes.push_back(image.classes[at]);
    }
    at -= image.classes.size();
  }
  fit(rows, classes);
  double best = -1.0;
  for (const double factor : {0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0}) {
    const double overlap = mean_over(training, [&](const PlumeImage& i) { return this->classes(i, factor); });
    if (overlap > best) {
      best = overlap;
      factor_ = factor;
    }
  }
}

/// (points, per_point).
std::vector<double> LogisticBaseline::features(const PlumeImage& image) const {
  const std::size_t n = image.temperature.size();
  std::vector<double> t(n), size(n);
  for (std::size_t k = 0; k < n; ++k) {
    t[k] = (image.temperature[k] - profile_[k % profile_.size()]) / deviation_;
    size[k] = std::abs(t[k]);
  }
  const auto near = box_mean(t, image, 1, 1), wide = box_mean(t, image, 4, 2), tall = box_mean(t, image, 1, 6),
             strong = box_mean(size, image, 4, 4), across = box_mean(t, image, 1, 0), along = box_mean(t, image, 0, 1);
  std::vector<double> out;
  out.reserve(n * per_point);
  for (std::size_t k = 0; k < n; ++k) {
    const double z =
        2.0 * (static_cast<double>(k % profile_.size()) + 0.5) / static_cast<double>(profile_.size()) - 1.0;
    const std::array<double, per_point> row{
        1.0,      t[k],         size[k],          t[k] * size[k],   near[k], wide[k],
        tall[k],  strong[k],    t[k] - across[k], t[k] - along[k],  z,       z * z,
        t[k] * z, t[k] * z * z, size[k] * z,      std::abs(tall[k])};
    out.insert(out.end(), row.begin(), row.end());
  }
  return out;
}

void LogisticBaseline::fit(const std::vector<double>& rows, const std::vector<std::uint8_t>& classes) {
  weights_.assign(unknowns, 0.0);
  const double share = 1.0 / static_cast<double>(classes.size());
  constexpr int steps = 12;
  constexpr double ridge = 1e-6;
  for (int step = 0; step < steps; ++step) {
    std::vector<double> slope(unknowns, 0.0), curvature(unknowns * unknowns, 0.0);
    for (std::size_t r = 0; r < classes.size(); ++r) {
      const double* row = rows.data() + r * per_point;
      const auto p = probabilities(row, weights_);
      for (std::size_t c = 0; c < 2; ++c) {
        const double miss = share * ((classes[r] == c + 1 ? 1.0 : 0.0) - p[c]);
        for (std::size_t i = 0; i < per_point; ++i) slope[c * per_point + i] += miss * row[i];
        for (std::size_t d = 0; d < 2; ++d) {
          const double bend = share * p[c] * ((c == d ? 1.0 : 0.0) - p[d]);
          for (std::size_t i = 0; i < per_point; ++i)
            for (std::size_t j = 0; j < per_point; ++j)
              curvature[(c * per_point + i) * unknowns + d * per_point + j] += bend * row[i] * row[j];
        }
      }
    }
    for (std::size_t k = 0; k < unknowns; ++k) slope[k] -= ridge * weights_[k];
    const auto change = solved(curvature, slope, ridge);
    double largest = 0.0;
    for (const double c : change) largest = std::max(largest, std::abs(c));
    constexpr double longest = 2.0;  // of one weight in one step: for separable classes Newton steps diverge
    for (std::size_t k = 0; k < unknowns; ++k) weights_[k] += change[k] * std::min(1.0, longest / largest);
  }
}

std::vector<std::uint8_t> LogisticBaseline::classes(const PlumeImage& image, double factor) const {
  const auto rows = features(image);
  std::vector<std::uint8_t> out;
  for (std::size_t k = 0; k < image.temperature.size(); ++k) {
    const auto p = probabilities(rows.data() + k * per_point, weights_);
    const double nothing = (1.0 - p[0] - p[1]) / factor;
    out.push_back(nothing >= std::max(p[0], p[1]) ? 0 : p[0] >= p[1] ? 1 : 2);
  }
  return out;
}

}  // namespace cambium::superres
