#include "core/train/networks/attention/random_features.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/counts.hpp"
#include "core/parallel/random.hpp"

namespace cambium::train {
namespace {

/// Weights use their parameter's index as the last address; features are far above those.
constexpr std::uint64_t first_address = 1ull << 32;

double dot(const double* a, const double* b, int n) {
  double sum = 0.0;
  for (int k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

/// Gram-Schmidt on rows, with unit lengths; applied twice against rounding errors.
void orthonormalise(double* rows, int count, int width) {
  for (int row = 0; row < count; ++row) {
    double* x = rows + at(row) * at(width);
    for (int pass = 0; pass < 2; ++pass)
      for (int other = 0; other < row; ++other) {
        const double* y = rows + at(other) * at(width);
        const double along = dot(x, y, width);
        for (int k = 0; k < width; ++k) x[k] -= along * y[k];
      }
    const double length = std::sqrt(dot(x, x, width));
    for (int k = 0; k < width; ++k) x[k] /= length;
  }
}

}  // namespace

std::vector<double> random_features(std::uint64_t seed, std::uint64_t number, int features, int width, Draw draw) {
  const auto normal = [&](std::int64_t i, std::uint64_t what) {
    return Random4(seed, Stream::model_weights, static_cast<std::uint64_t>(i), first_address + 2 * number + what)
        .normal(0);
  };
  std::vector<double> out(at(static_cast<std::int64_t>(features) * width));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = normal(static_cast<std::int64_t>(i), 0);
  if (draw == Draw::independent) return out;
  for (int first = 0; first < features; first += width)
    orthonormalise(out.data() + at(first) * at(width), std::min(width, features - first), width);
  for (int row = 0; row < features; ++row) {
    double square = 0.0;
    for (int k = 0; k < width; ++k) square += std::pow(normal(static_cast<std::int64_t>(row) * width + k, 1), 2);
    for (int k = 0; k < width; ++k) out[at(row) * at(width) + at(k)] *= std::sqrt(square);
  }
  return out;
}

}  // namespace cambium::train
