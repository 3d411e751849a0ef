// Matrices of few bits: products against plain sums over signs, coding against what is known of it.
#include <cmath>

#include "core/lowp/binary_coding.hpp"
#include "core/lowp/calibrated.hpp"
#include "core/parallel/random.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::lowp;

namespace {

std::vector<float> normal(std::int64_t n, std::uint64_t id) {
  std::vector<float> x(n);
  for (std::int64_t k = 0; k < n; ++k) x[k] = static_cast<float>(Random4(8, Stream::test, k, id).normal(0));
  return x;
}

double squared_error(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += std::pow(static_cast<double>(a[k]) - b[k], 2);
  return sum;
}

/// Largest difference to three plain loops over dense(), in double, relative to what the terms add up to.
double worst_product(const BinaryCodedMatrix& m, std::int64_t batch) {
  const auto x = normal(batch * m.columns, 5), w = m.dense();
  std::vector<float> y(batch * m.rows + 1, 123.0f);
  multiply(m, x.data(), batch, y.data());
  double worst = y.back() == 123.0f ? 0.0 : INFINITY;  // nothing is written behind the result
  for (std::int64_t k = 0; k < batch; ++k)
    for (std::int64_t r = 0; r < m.rows; ++r) {
      double sum = 0, size = 1e-300;
      for (std::int64_t c = 0; c < m.columns; ++c) {
        const double term = static_cast<double>(w[r * m.columns + c]) * x[k * m.columns + c];
        sum += term;
        size += std::abs(term);
      }
      worst = std::max(worst, std::abs(sum - y[k * m.rows + r]) / size);
    }
  return worst;
}

}  // namespace

TEST_CASE("products with binary-coded weights agree with plain sums over signs") {
  for (auto [rows, columns] :
       {std::array<std::int64_t, 2>{1, 1}, {16, 32}, {17, 33}, {5, 3}, {130, 77}, {64, 1500}, {250, 2100}})
    for (int bits = 1; bits <= 4; ++bits)
      for (std::int64_t batch : {1, 2, 4, 5, 8, 11}) {
        INFO(rows << " x " << columns << ", " << bits << " bits, batch " << batch);
        CHECK(worst_product(binary_coded(normal(rows * columns, bits), rows, columns, bits, 2), batch) < 1e-6);
      }
  CHECK(worst_product(ternary_coded(normal(70 * 90, 1), 70, 90), 3) < 1e-6);
}

TEST_CASE("products with the transpose agree with plain sums over the same matrix") {
  for (auto [rows, columns] : {std::array<std::int64_t, 2>{1, 1}, {17, 33}, {48, 130}, {130, 77}})
    for (int bits = 0; bits <= 4; ++bits) {
      const auto m = bits == 0 ? ternary_coded(normal(rows * columns, 1), rows, columns)
                               : binary_coded(normal(rows * columns, bits), rows, columns, bits, 2);
      const auto y = normal(3 * rows, 6), w = m.dense();
      std::vector<float> x(3 * columns, 7.0f);
      multiply_transposed(m, transposed_planes(m), {y.data(), rows}, 3, false, {x.data(), columns});
      double worst = 0;
      for (std::int64_t k = 0; k < 3; ++k)
        for (std::int64_t c = 0; c < columns; ++c) {
          double sum = 0, size = 1e-300;
          for (std::int64_t r = 0; r < rows; ++r) {
            const double term = static_cast<double>(w[r * columns + c]) * y[k * rows + r];
            sum += term;
            size += std::abs(term);
          }
          worst = std::max(worst, std::abs(sum - x[k * columns + c]) / size);
        }
      INFO(rows << " x " << columns << ", " << bits << " bits");
      CHECK(worst < 2e-6);
    }
}

TEST_CASE("binary coding: greedy is the textbook's, alternation only improves it, more bits are closer") {
  const std::int64_t rows = 9, columns = 400;
  const auto w = normal(rows * columns, 77);
  double before = INFINITY;
  for (int bits = 1; bits <= 4; ++bits) {
    const double greedy = squared_error(w, binary_coded(w, rows, columns, bits, 0).dense());
    const double refined = squared_error(w, binary_coded(w, rows, columns, bits).dense());
    INFO(bits << " bits");
    CHECK(refined <= greedy * (1 + 1e-6));
    CHECK(refined < 0.6 * before);
    if (bits >= 2) CHECK(refined < 0.95 * greedy);
    before = refined;
  }
  // One bit: the sign and the mean magnitude; of a normal distribution 1 - 2/pi of the square remains.
  const auto one = binary_coded(w, rows, columns, 1);
  double mean = 0, square = 0;
  for (std::int64_t c = 0; c < columns; ++c) mean += std::abs(w[c]) / columns;
  for (float v : w) square += v * v;
  CHECK(one.scales[0] == Approx(mean).epsilon(1e-5));
  CHECK(squared_error(w, one.dense()) / square == Approx(1 - 2 / M_PI).epsilon(0.03));
  for (std::int64_t k = 0; k < rows * columns; ++k) CHECK((one.dense()[k] > 0) == (w[k] >= 0));
  // A matrix that is a sum of two planes is found again.
  std::vector<float> exact(columns);
  for (std::int64_t c = 0; c < columns; ++c) exact[c] = (c % 2 ? 1.0f : -1.0f) + (c % 3 ? 0.25f : -0.25f);
  CHECK(squared_error(exact, binary_coded(exact, 1, columns, 2).dense()) < 1e-10);
  CHECK(one.bytes() == 4 * (16 * 13 * 1 + 16));
}

TEST_CASE("ternary weights are rounded to the mean magnitude") {
  const std::vector<float> w{0.9f, -0.1f, 0.2f, -2.0f, 0.0f, 0.8f};  // mean magnitude 4/6
  const float s = 4.0f / 6.0f;
  const std::vector<float> expected{s, 0, 0, -s, 0, s};
  const auto found = ternary_coded(w, 2, 3).dense();
  for (std::size_t k = 0; k < w.size(); ++k) CHECK(found[k] == Approx(expected[k]).margin(1e-7));
  CHECK(ternary_coded(std::vector<float>(6, 0.0f), 2, 3).dense() == std::vector<float>(6, 0.0f));
}

TEST_CASE("messages of binary coding") {
  CHECK(message([] { binary_coded(std::vector<float>(4), 2, 2, 5); }) ==
        "weights of 5 bits; binary coding takes 1 to 4");
}

TEST_CASE("calibration: products of samples come nearer, never farther, and keep their means") {
  const std::int64_t rows = 12, columns = 48, samples = 300;
  const auto w = normal(rows * columns, 31);
  // Inputs of strongly different widths that hang together, with a mean; behind rounded layers they are a little off.
  auto x = normal(samples * columns, 32);
  const auto noise = normal(samples * columns, 33);
  for (std::int64_t k = 0; k < samples; ++k)
    for (std::int64_t c = 0; c < columns; ++c) {
      float& v = x[k * columns + c];
      v = v * (c % 5 == 0 ? 3.0f : 0.3f) + 0.7f + (c > 0 ? 0.5f * x[k * columns + c - 1] : 0.0f);
    }
  auto seen = x;
  for (std::size_t k = 0; k < seen.size(); ++k) seen[k] += 0.05f * noise[k] + 0.1f;
  const auto inputs = input_moments(x, seen, columns);
  /// Mean squared error of the products about their means, and the largest difference of the means.
  const auto error = [&](const BinaryCodedMatrix& m, const std::vector<float>& shift) {
    const auto meant = m.dense();
    double square = 0.0, off = 0.0;
    for (std::int64_t r = 0; r < rows; ++r) {
      std::vector<double> d(samples, shift.empty() ? 0.0 : shift[r]);
      double mean = 0.0;
      for (std::int64_t k = 0; k < samples; ++k) {
        for (std::int64_t c = 0; c < columns; ++c)
          d[k] += static_cast<double>(meant[r * columns + c]) * seen[k * columns + c] -
                  static_cast<double>(w[r * columns + c]) * x[k * columns + c];
        mean += d[k] / samples;
      }
      for (double v : d) square += (v - mean) * (v - mean) / samples;
      off = std::max(off, std::abs(mean));
    }
    return std::array{square, off};
  };
  for (int bits = 1; bits <= 4; ++bits) {
    const auto plain = binary_coded(w, rows, columns, bits);
    const auto once = calibrated(plain, false, w, inputs, 1), better = calibrated(plain, false, w, inputs);
    const double before = error(plain, {})[0], first = error(once.matrix, once.shift)[0],
                 after = error(better.matrix, better.shift)[0];
    INFO(bits << " bits: " << before << ' ' << first << ' ' << after);
    CHECK(after < 0.6 * before);
    CHECK(after < first);
    CHECK(error(plain, {})[1] > 0.1);
    CHECK(error(better.matrix, better.shift)[1] < 1e-4);
    CHECK(better.matrix.bytes() == plain.bytes());
  }
  const auto plain = ternary_coded(w, rows, columns);
  const auto better = calibrated(plain, true, w, inputs);
  CHECK(better.matrix.scales == plain.scales);
  CHECK(error(better.matrix, better.shift)[0] < 0.7 * error(plain, {})[0]);
  const float s = plain.scale(0, 0);
  for (float v : better.matrix.dense()) CHECK((v == 0.0f || std::abs(std::abs(v) - 2 * s) < 1e-6f));
  // Without rounded layers before it and with all the bits it needs, a matrix stays what it is.
  std::vector<float> exact(columns);
  for (std::int64_t c = 0; c < columns; ++c) exact[c] = (c % 2 ? 1.0f : -1.0f) + (c % 3 ? 0.25f : -0.25f);
  const auto kept = calibrated(binary_coded(exact, 1, columns, 2), false, exact, input_moments(x, x, columns));
  CHECK(squared_error(exact, kept.matrix.dense()) < 1e-9);
  CHECK(std::abs(kept.shift[0]) < 1e-4);
}
