// Codecs of messages: bits, bounds, expectation and reproducibility against plain formulas.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/lowp/bfloat16.hpp"
#include "core/lowp/groups.hpp"
#include "core/lowp/hadamard.hpp"
#include "core/parallel/random.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::lowp;

namespace {

std::vector<float> normal(std::int64_t n, std::uint64_t id) {
  std::vector<float> x(n);
  for (std::int64_t k = 0; k < n; ++k) x[k] = static_cast<float>(Random4(21, Stream::test, k, id).normal(0));
  return x;
}

std::vector<float> through(GroupFormat format, const std::vector<float>& x, const RoundingAddress& address) {
  std::vector<std::byte> message(format.bytes(std::ssize(x)));
  encode_groups(format, x, address, message);
  std::vector<float> y(x.size());
  decode_groups(format, message, y);
  return y;
}

}  // namespace

TEST_CASE("bits per number of the three formats are exact") {
  CHECK(int8_groups.bits_per_number() == 8.25);
  CHECK(int4_groups.bits_per_number() == 4.25);
  CHECK(int4_differences.bits_per_number() == 4.015625);
  CHECK(8 * int8_groups.bytes(128 * 1000) == 8.25 * 128 * 1000);
  CHECK(8 * int4_groups.bytes(128 * 1000) == 4.25 * 128 * 1000);
  CHECK(8 * int4_differences.bytes(2048 * 1000) == 4.015625 * 2048 * 1000);
  CHECK(int4_differences.bytes(1) == 1028);
}

TEST_CASE("dithers are the project's random numbers, whoever asks for them") {
  const RoundingAddress address{7, 3, 1ull << 33, 256};
  for (std::int64_t block : {0, 1, 5000000}) {
    std::uint16_t found[dither_block];
    dithers(address, block, found);
    for (int k = 0; k < dither_block; ++k) {
      const std::uint64_t e = 256 + 128 * block + k;
      const Random4 r(7, Stream::rounding, (3ull << 40) + 16 * (e / 128) + e % 16, address.step);
      CHECK(found[k] == static_cast<std::uint16_t>(r.bits[e % 128 / 32] >> (e / 16 % 2 ? 16 : 0)));
    }
  }
}

TEST_CASE("bfloat16: nearest, ties to even, and without bias where asked") {
  for (std::uint32_t k = 0; k < 65536; ++k) {
    const auto half = static_cast<std::uint16_t>(k);
    const float x = from_bfloat16(half);
    if (!std::isnan(x))
      CHECK(to_bfloat16(x) == half);
    else
      CHECK(std::isnan(from_bfloat16(to_bfloat16(x))));
    if (half % 0x8000 >= 0x7f7f) continue;
    const float up = from_bfloat16(static_cast<std::uint16_t>(half + 1)),
                middle = static_cast<float>((double(x) + up) / 2);
    CHECK(to_bfloat16(middle) == (half % 2 ? half + 1 : half));
    CHECK(to_bfloat16(std::nextafter(middle, x)) == half);
    CHECK(to_bfloat16(std::nextafter(middle, up)) == half + 1);
  }
  CHECK(from_bfloat16(to_bfloat16(std::numeric_limits<float>::max())) == INFINITY);
  const std::vector<float> x(100000, 1.0f + 0.3f / 128);  // three tenths of the way from 1 to the next
  std::vector<std::uint16_t> half(x.size());
  std::vector<float> y(x.size());
  encode_bfloat16(x, RoundingAddress{1, 2, 3, 0}, half);
  decode_bfloat16(half, y);
  double mean = 0;
  for (float v : y) mean += (v - 1.0) * 128 / y.size();
  CHECK(std::abs(mean - 0.3) < 4 * std::sqrt(0.3 * 0.7 / y.size()));
  std::vector<float> odd{INFINITY, -INFINITY, NAN}, back(3);
  std::vector<std::uint16_t> three(3);
  encode_bfloat16(odd, RoundingAddress{}, three);
  decode_bfloat16(three, back);
  CHECK((back[0] == INFINITY && back[1] == -INFINITY && std::isnan(back[2])));
}

TEST_CASE("groups: every number within one step, zero exact, groups on their own, any cut the same") {
  for (const auto format : {int8_groups, int4_groups, int4_differences, GroupFormat{8, 256}})
    for (std::int64_t n : {0, 1, 127, 128, 129, 1000, 5000}) {
      INFO(format.bits << " bits in groups of " << format.group << ", " << n << " numbers");
      auto x = normal(n, n);
      for (std::int64_t k = 0; k < n; k += 7) x[k] = 0.0f;
      const auto y = through(format, x, {5, 1, 2, 0});
      for (std::int64_t k = 0; k < n; ++k) {
        float most = 0;
        for (std::int64_t j = k / format.group * format.group; j < std::min(n, (k / format.group + 1) * format.group);
             ++j)
          most = std::max(most, std::abs(x[j]));
        CHECK(std::abs(x[k] - y[k]) <= 1.00001f * most / (format.bits == 8 ? 127 : 7));
        if (x[k] == 0.0f) CHECK(y[k] == 0.0f);
      }
      CHECK(through(format, x, {5, 1, 2, 0}) == y);
      if (n > 200) CHECK(through(format, x, {5, 1, 3, 0}) != y);
      if (n > 200) CHECK(through(format, x, {5, 2, 2, 0}) != y);
    }
  const auto x = normal(4096, 3);
  const auto whole = through(int4_differences, x, {1, 1, 1, 0});
  const auto second = through(int4_differences, {x.begin() + 2048, x.end()}, {1, 1, 1, 2048});
  CHECK(std::equal(second.begin(), second.end(), whole.begin() + 2048));
}

TEST_CASE("groups: what is decoded is, on average, what was encoded, and can be added") {
  const std::int64_t n = 256, steps = 4000;
  const auto x = normal(n, 9);
  for (const auto format : {int8_groups, int4_groups}) {
    std::vector<double> sum(n);
    for (std::int64_t step = 0; step < steps; ++step) {
      const auto y = through(format, x, {2, 0, static_cast<std::uint64_t>(step), 0});
      for (std::int64_t k = 0; k < n; ++k) sum[k] += y[k];
    }
    double chi = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      float most = 0;
      for (std::int64_t j = k / 128 * 128; j < k / 128 * 128 + 128; ++j) most = std::max(most, std::abs(x[j]));
      const double step = most / (format.bits == 8 ? 127 : 7), part = x[k] / step - std::floor(x[k] / step);
      const double sigma = step * std::sqrt(std::max(part * (1 - part), 1e-4) / steps);
      chi += std::pow((sum[k] / steps - x[k]) / sigma, 2) / n;
    }
    CHECK(chi < 1 + 4 * std::sqrt(2.0 / n));
  }
  std::vector<std::byte> message(int8_groups.bytes(n));
  encode_groups(int8_groups, x, {}, message);
  std::vector<float> once(n), twice(n, 1.0f);
  decode_groups(int8_groups, message, once);
  add_groups(int8_groups, message, twice);
  for (std::int64_t k = 0; k < n; ++k) CHECK(twice[k] == Approx(1.0f + once[k]).margin(1e-6));
}

TEST_CASE("groups: a number that is not finite is not lost, and touches its own group only") {
  for (float odd : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    auto x = normal(384, 1);
    x[200] = odd;
    const auto y = through(int4_groups, x, {});
    for (int k = 0; k < 384; ++k) CHECK(std::isnan(y[k]) == (k / 128 == 1));
  }
  const std::vector<float> tiny(128, 1e-44f);
  for (float v : through(int8_groups, tiny, {})) CHECK(std::abs(v) <= 2e-44f);
}

TEST_CASE("the Hadamard transform of 32 is the matrix of signs, and its inverse undoes it") {
  auto x = normal(96, 4);
  const auto original = x;
  hadamard32(x);
  for (int block = 0; block < 3; ++block)
    for (int i = 0; i < 32; ++i) {
      double sum = 0;
      for (int j = 0; j < 32; ++j) sum += (__builtin_popcount(i & j) % 2 ? -1.0 : 1.0) * original[32 * block + j];
      CHECK(x[32 * block + i] == Approx(sum).margin(1e-5));
    }
  inverse_hadamard32(x);
  for (int k = 0; k < 96; ++k) CHECK(x[k] == Approx(original[k]).margin(1e-6));
}

TEST_CASE(
    "the randomised Hadamard transform is the matrix of signs after signs of its own, and its inverse undoes it") {
  std::vector<float> sign(128);  // of a number, as its transform's first entry has it
  for (int j = 0; j < 128; ++j) {
    std::vector<float> one(128);
    one[j] = 1.0f;
    randomised_hadamard(one);
    sign[j] = one[0];
  }
  CHECK(std::count(sign.begin(), sign.end(), 1.0f) > 50);
  CHECK(std::count(sign.begin(), sign.end(), -1.0f) > 50);
  auto x = normal(256, 4);
  const auto original = x;
  randomised_hadamard(x);
  for (int k = 0; k < 256; ++k) {
    double sum = 0;
    for (int j = 0; j < 128; ++j)
      sum += (__builtin_popcount(k % 128 & j) % 2 ? -1.0 : 1.0) * sign[j] * original[k / 128 * 128 + j];
    CHECK(x[k] == Approx(sum).margin(1e-4));
  }
  inverse_randomised_hadamard(x);
  for (int k = 0; k < 256; ++k) CHECK(x[k] == Approx(original[k]).margin(1e-6));
  CHECK_THROWS_AS(randomised_hadamard(std::span(x).first(100)), InternalError);
}
