#include <cmath>
#include <limits>

#include "core/lowp/softmax.hpp"
#include "core/parallel/random.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using lowp::softmax;
using lowp::softmax_three_passes;

namespace {

std::vector<float> sample(std::size_t n, int kind, std::uint64_t id) {
  std::vector<float> x(n);
  for (std::size_t k = 0; k < n; ++k) {
    const Random4 r(12, Stream::test, k, id);
    const double normal = r.normal(0), uniform = 2 * r.uniform(2) - 1;
    const double value[] = {normal, 5 * normal,           1000 * uniform,    10000 * uniform,
                            3.0,    1e-3 * normal - 9000, 100 * normal + 1e6};
    x[k] = static_cast<float>(value[kind]);
  }
  return x;
}

/// Largest error in units in the last place of the exact result, which is computed in double; denormal results count
/// absolutely.
double worst_ulp(const std::vector<float>& x, const std::vector<float>& y) {
  double largest = -INFINITY, sum = 0, worst = 0;
  for (float v : x) largest = std::max<double>(largest, v);
  for (float v : x) sum += std::exp(v - largest);
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double exact = std::exp(x[k] - largest) / sum;
    const float rounded = std::max(static_cast<float>(exact), std::numeric_limits<float>::min());
    worst = std::max(worst, std::abs(y[k] - exact) / (std::nextafter(rounded, INFINITY) - rounded));
  }
  return worst;
}

}  // namespace

TEST_CASE("two-pass softmax lies within two units in the last place") {
  std::vector<std::size_t> sizes{1000, 4096, 4097, 100003};
  for (std::size_t n = 1; n < 70; ++n) sizes.push_back(n);
  for (int kind = 0; kind < 7; ++kind)
    for (auto n : sizes) {
      INFO("kind " << kind << ", " << n << " numbers");
      const auto x = sample(n, kind, n);
      std::vector<float> y(n + 1, 77.0f);
      softmax(x.data(), static_cast<std::int64_t>(n), y.data());
      CHECK(y.back() == 77.0f);
      y.pop_back();
      CHECK(worst_ulp(x, y) <= 2.0);
      double total = 0;
      for (float v : y) total += v;
      CHECK(total == Approx(1.0).epsilon(1e-6));
    }
}

TEST_CASE("softmax in place, with masks, with huge numbers, with numbers that are none") {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> x{1.0f, -infinity, 2.0f}, same = x;
  softmax(same.data(), 3, same.data());
  CHECK(same[0] == Approx(1 / (1 + std::exp(1.0))));
  CHECK(same[1] == 0.0f);
  CHECK(same[2] == Approx(1 / (1 + std::exp(-1.0))));
  std::vector<float> huge{3e38f, 3e38f, -3e38f, 0.0f}, y(4);
  softmax(huge.data(), 4, y.data());
  CHECK(y == std::vector<float>{0.5f, 0.5f, 0.0f, 0.0f});
  std::vector<float> low{-3e38f, -3e38f};
  softmax(low.data(), 2, low.data());
  CHECK(low == std::vector<float>{0.5f, 0.5f});
  for (float odd : {std::numeric_limits<float>::quiet_NaN(), infinity})
    for (std::size_t at : {0, 17, 99}) {
      std::vector<float> z(100, 1.0f);
      z[at] = odd;
      for (auto* function : {softmax, softmax_three_passes}) {
        std::vector<float> out(100);
        function(z.data(), 100, out.data());
        CHECK(std::isnan(out[3]));
      }
    }
}

TEST_CASE("the three-pass form gives the same, within the rounding of its differences") {
  const auto x = sample(5000, 1, 3);
  std::vector<float> two(x.size()), three(x.size());
  softmax(x.data(), 5000, two.data());
  softmax_three_passes(x.data(), 5000, three.data());
  for (std::size_t k = 0; k < x.size(); ++k) CHECK(three[k] == Approx(two[k]).epsilon(4e-6));
}
