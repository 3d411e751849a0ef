// Factors of layers: exact where the rank is, the nearest elsewhere.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/parallel/random.hpp"
#include "core/train/low_rank/decompose.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::train;

namespace {

double number(std::uint64_t k, std::uint64_t id) { return Random4(17, Stream::test, k, id).normal(0); }

/// Outputs x inputs x taps, made of `rank` channels on both sides.
LayerWeights made(std::int64_t outputs, std::int64_t inputs, std::int64_t taps, std::int64_t rank) {
  LayerWeights w{outputs, inputs, taps, {}};
  std::uint64_t k = 0;
  std::vector<double> left, right, core;
  for (std::int64_t j = 0; j < outputs * rank; ++j) left.push_back(number(k++, 1));
  for (std::int64_t j = 0; j < inputs * rank; ++j) right.push_back(number(k++, 2));
  for (std::int64_t j = 0; j < rank * rank * taps; ++j) core.push_back(number(k++, 3));
  for (std::int64_t o = 0; o < outputs; ++o)
    for (std::int64_t i = 0; i < inputs; ++i)
      for (std::int64_t t = 0; t < taps; ++t) {
        double sum = 0.0;
        for (std::int64_t p = 0; p < rank; ++p)
          for (std::int64_t q = 0; q < rank; ++q)
            sum += left[o * rank + p] * right[i * rank + q] * core[(p * rank + q) * taps + t];
        w.values.push_back(sum);
      }
  return w;
}

/// Square of what the factors leave.
double left_over(const LayerWeights& w, const Factors& f, std::int64_t rank) {
  const auto in = f.enter.empty() ? w.inputs : std::min(rank, w.inputs);
  const auto out = f.leave.empty() ? w.outputs : std::min(rank, w.outputs);
  double sum = 0.0;
  for (std::int64_t o = 0; o < w.outputs; ++o)
    for (std::int64_t i = 0; i < w.inputs; ++i)
      for (std::int64_t t = 0; t < w.taps; ++t) {
        double value = 0.0;
        for (std::int64_t p = 0; p < out; ++p)
          for (std::int64_t q = 0; q < in; ++q) {
            if (f.core.empty() && p != q) continue;
            const double l = f.leave.empty() ? (p == o) : f.leave[o * out + p];
            const double e = f.enter.empty() ? (q == i) : f.enter[q * w.inputs + i];
            value += l * e * (f.core.empty() ? 1.0 : f.core[(p * in + q) * w.taps + t]);
          }
        const double d = value - w.values[(o * w.inputs + i) * w.taps + t];
        sum += d * d;
      }
  return sum;
}

double square(const LayerWeights& w) {
  double sum = 0.0;
  for (const double x : w.values) sum += x * x;
  return sum;
}

}  // namespace

TEST_CASE("layers of a rank are products of that rank, exactly") {
  for (const auto& w : {made(9, 14, 1, 4), made(14, 9, 1, 4), made(8, 10, 9, 3), made(10, 3, 9, 3), made(3, 10, 27, 3)})
    CHECK(left_over(w, factors_of(w, w.taps == 1 ? 4 : 3), w.taps == 1 ? 4 : 3) < 1e-20 * square(w));
}

TEST_CASE("a matrix loses its smallest singular values, and no more") {
  // Orthogonal rows of lengths 5, 4, 3, 2, 1 times orthogonal columns: singular values that are known.
  LayerWeights w{5, 6, 1, std::vector<double>(30, 0.0)};
  for (int o = 0; o < 5; ++o)
    for (int i = 0; i < 6; ++i)
      for (int k = 0; k < 5; ++k)
        w.values[o * 6 + i] += (5 - k) * std::sqrt(2.0 / 6) * std::sin(M_PI * (o + 1) * (k + 1) / 6) *
                               std::sqrt(2.0 / 7) * std::sin(M_PI * (i + 1) * (k + 1) / 7);
  CHECK(left_over(w, factors_of(w, 2), 2) == Approx(9.0 + 4.0 + 1.0));
  CHECK(left_over(w, factors_of(w, 4), 4) == Approx(1.0));
}

TEST_CASE("a kernel's factors lose less than those of its two sides found alone") {
  LayerWeights w{12, 10, 9, {}};
  for (std::uint64_t k = 0; k < 12 * 10 * 9; ++k) w.values.push_back(number(k, 9));
  // Without sweeps: outputs and inputs by their own products.
  const auto alone = [&](std::int64_t rank) {
    const auto enter = leading_vectors(w, false, rank), leave = leading_vectors(w, true, rank);
    double kept = 0.0;
    for (std::int64_t p = 0; p < rank; ++p)
      for (std::int64_t q = 0; q < rank; ++q)
        for (std::int64_t t = 0; t < 9; ++t) {
          double core = 0.0;
          for (std::int64_t o = 0; o < 12; ++o)
            for (std::int64_t i = 0; i < 10; ++i)
              core += leave[p * 12 + o] * enter[q * 10 + i] * w.values[(o * 10 + i) * 9 + t];
          kept += core * core;
        }
    return square(w) - kept;
  };
  for (const std::int64_t rank : {2, 4, 6}) {
    const double swept = left_over(w, factors_of(w, rank), rank);
    CHECK(swept < alone(rank));
    CHECK(swept > 0.0);
  }
}

TEST_CASE("factors multiply to what they stand for") {
  for (const auto& [outputs, inputs, taps, rank] :
       {std::array{9, 14, 1, 4}, {14, 9, 1, 4}, {8, 10, 9, 3}, {10, 3, 9, 5}, {3, 10, 27, 5}, {4, 4, 9, 6}}) {
    const auto w = made(outputs, inputs, taps, std::min({outputs, inputs, 6}));
    const auto factors = factors_of(w, rank);
    const auto product = multiplied(factors, outputs, inputs, taps);
    REQUIRE(product.values.size() == w.values.size());
    double off = 0.0;
    for (std::size_t k = 0; k < w.values.size(); ++k) {
      const double d = product.values[k] - w.values[k];
      off += d * d;
    }
    INFO(outputs << " x " << inputs << " x " << taps);
    CHECK(off == Approx(left_over(w, factors, rank)).margin(1e-18 * square(w)));
  }
}
