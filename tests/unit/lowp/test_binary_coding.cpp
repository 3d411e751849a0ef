// Matrices of few bits: products against plain sums over signs, coding against what is known of it.
#include <cmath>

#include "core/lowp/infer/binary_coding.hpp"
#include "core/parallel/random.hpp"
#include "tests/catch.hpp"
#include "tests/unit/scratch.hpp"

using namespace cambium;
using namespace cambium::lowp;

namespace {

std::vector<float> normal(std::int64_t n, std::uint64_t id) {
  std::vector<float> x(static_cast<std::size_t>(n));
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
  std::vector<float> y(static_cast<std::size_t>(batch * m.rows + 1), 123.0f);
  multiply(m, x.data(), batch, y.data());
  double worst = y.back() == 123.0f ? 0.0 : INFINITY;  // nothing is written behind the result
  for (std::int64_t k = 0; k < batch; ++k)
    for (std::int64_t r = 0; r < m.rows; ++r) {
      double sum = 0, size = 1e-300;
      for (std::int64_t c = 0; c < m.columns; ++c) {
        const double term = static_cast<double>(w[r * m.columns + c]) * x[k * m.columns + c];
        sum += term, size += std::abs(term);
      }
      worst = std::max(worst, std::abs(sum - y[k * m.rows + r]) / size);
    }
  return worst;
}

}  // namespace

TEST_CASE("products with binary-coded weights agree with plain sums over signs") {
  for (auto [rows, columns] : {std::array<std::int64_t, 2>{1, 1}, {16, 32}, {17, 33}, {5, 3}, {130, 77}, {64, 1500}, {250, 2100}})
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
      const auto m = bits == 0 ? ternary_coded(normal(rows * columns, 1), rows, columns) : binary_coded(normal(rows * columns, bits), rows, columns, bits, 2);
      const auto y = normal(3 * rows, 6), w = m.dense();
      std::vector<float> x(static_cast<std::size_t>(3 * columns), 7.0f);
      multiply_transposed(m, transposed_planes(m), y.data(), 3, x.data());
      double worst = 0;
      for (std::int64_t k = 0; k < 3; ++k)
        for (std::int64_t c = 0; c < columns; ++c) {
          double sum = 0, size = 1e-300;
          for (std::int64_t r = 0; r < rows; ++r) {
            const double term = static_cast<double>(w[r * columns + c]) * y[k * rows + r];
            sum += term, size += std::abs(term);
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
  CHECK(message([] { binary_coded(std::vector<float>(4), 2, 2, 5); }) == "weights of 5 bits; binary coding takes 1 to 4");
}
