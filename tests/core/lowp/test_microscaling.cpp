// Floating-point formats of 8 and 4 bits and blocks of them, against tables of all their codes by the formula of the
// specification.
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/base/error.hpp"
#include "core/lowp/message.hpp"
#include "core/lowp/microscaling.hpp"
#include "core/parallel/random.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::lowp;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN(),
                 infinity = std::numeric_limits<double>::infinity();

/// (-1)^S 2^(E - bias) (1 + F / 2^f), or (-1)^S 2^(1 - bias) F / 2^f where E is 0.
std::vector<double> table(int exponent_bits, int fraction_bits, int bias) {
  std::vector<double> out;
  for (double sign : {1.0, -1.0})
    for (int e = 0; e < 1 << exponent_bits; ++e)
      for (int f = 0; f < 1 << fraction_bits; ++f) {
        const double fraction = f / std::pow(2.0, fraction_bits);
        out.push_back(sign *
                      (e == 0 ? std::pow(2.0, 1 - bias) * fraction : std::pow(2.0, e - bias) * (1.0 + fraction)));
      }
  return out;
}

struct Case {
  const char* name;
  SmallFloat format;
  std::vector<double> values;
};

std::vector<Case> cases() {
  std::vector<Case> out{
      {"e4m3", e4m3, table(4, 3, 7)}, {"e5m2", e5m2, table(5, 2, 15)}, {"e2m1", e2m1, table(2, 1, 1)}};
  for (const int negative : {0, 128}) {
    out[0].values[negative + 127] = not_a_number;  // S.1111.111
    out[1].values[negative + 124] = negative ? -infinity : infinity;
    for (const int k : {125, 126, 127}) out[1].values[negative + k] = not_a_number;
  }
  return out;
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

/// The finite value nearest to x; of two the one whose code is even.
int nearest(const std::vector<double>& values, double x) {
  int best = -1;
  for (int k = 0; k < static_cast<int>(values.size()); ++k) {
    if (!std::isfinite(values[k]) || std::signbit(values[k]) != std::signbit(x)) continue;
    const double off = best < 0 ? infinity : std::fabs(values[best] - x), here = std::fabs(values[k] - x);
    if (here < off || (here == off && k % 2 == 0)) best = k;
  }
  return best;
}

double normal(std::uint64_t k, std::uint64_t id) { return Random4(5, Stream::test, k, id).normal(0); }

/// The conversion of the specification, a block at a time, by the table.
std::vector<float> by_table(const Case& c, const std::vector<float>& x) {
  std::vector<float> out;
  for (std::size_t at = 0; at < x.size(); at += 32) {
    double most = 0.0;
    for (std::size_t k = at; k < std::min(at + 32, x.size()); ++k)
      most = std::max(most, std::fabs(static_cast<double>(x[k])));
    double largest = 0.0;
    for (double v : c.values)
      if (std::isfinite(v)) largest = std::max(largest, v);
    const double scale =
        most == 0.0 ? 1.0 : std::pow(2.0, std::floor(std::log2(most)) - std::floor(std::log2(largest)));
    for (std::size_t k = at; k < std::min(at + 32, x.size()); ++k)
      out.push_back(static_cast<float>(c.values[nearest(c.values, x[k] / scale)] * scale));
  }
  return out;
}

}  // namespace

TEST_CASE("every code of the small formats has the value of its formula, and is its own code") {
  for (const auto& c : cases()) {
    INFO(c.name);
    REQUIRE(std::ssize(c.values) == 1 << c.format.bits());
    for (int k = 0; k < std::ssize(c.values); ++k) {
      const auto code = static_cast<std::uint8_t>(k);
      CHECK(same(c.format.value(code), c.values[k]));
      if (std::isfinite(c.values[k])) CHECK(c.format.code(c.values[k]) == code);
    }
  }
  CHECK(e4m3.largest() == 448.0);
  CHECK(e5m2.largest() == 57344.0);
  CHECK(e2m1.largest() == 6.0);
}

TEST_CASE("numbers go to the nearest code, ties to the even one, and large ones to the largest") {
  for (const auto& c : cases()) {
    INFO(c.name);
    const double largest = c.format.largest();
    for (std::uint64_t k = 0; k < 20000; ++k) {
      const double x = normal(k, 0) * std::pow(2.0, 24.0 * (Random4(6, Stream::test, k, 1).uniform(0) - 0.7));
      INFO(x);
      CHECK(c.format.code(x) == nearest(c.values, x));
    }
    for (int k = 0; k + 1 < std::ssize(c.values); ++k) {  // ties
      const double low = c.values[k], high = c.values[k + 1];
      if (!std::isfinite(low) || !std::isfinite(high) || std::signbit(low) != std::signbit(high)) continue;
      INFO(0.5 * (low + high));
      CHECK(c.format.code(0.5 * (low + high)) == (k % 2 == 0 ? k : k + 1));
    }
    for (const double x : {1.01 * largest, 1e30, infinity}) {
      CHECK(c.format.value(c.format.code(x)) == largest);
      CHECK(c.format.value(c.format.code(-x)) == -largest);
    }
    CHECK((std::isnan(c.format.value(c.format.code(not_a_number))) ||
           (!c.format.has_nan() && c.format.code(not_a_number) == 0)));
  }
}

TEST_CASE("blocks share the power of two of the specification") {
  const auto all = cases();
  const Microscaled formats[] = {mxfp8_e4m3, mxfp8_e5m2, mxfp4};
  const WireCodec codecs[] = {WireCodec::mxfp8_e4m3, WireCodec::mxfp8_e5m2, WireCodec::mxfp4};
  for (std::size_t c = 0; c < 3; ++c) {
    INFO(all[c].name);
    CHECK(formats[c].bits_per_number() == (c == 2 ? 4.25 : 8.25));
    std::vector<float> x(1280);
    for (std::size_t k = 0; k < x.size(); ++k)
      x[k] = static_cast<float>(normal(k, 2) * std::pow(2.0, static_cast<double>(k / 32) - 20.0));
    std::fill_n(x.begin() + 64, 32, 0.0f);
    const auto expected = by_table(all[c], x);
    std::vector<std::byte> message(formats[c].bytes(std::ssize(x)));
    encode_blocks(formats[c], x, message);
    std::vector<float> found(x.size()), sum(x.size(), 1.0f), rounded = x;
    decode_blocks(formats[c], message, found);
    CHECK(found == expected);
    add_blocks(formats[c], message, sum);
    for (std::size_t k = 0; k < x.size(); ++k) CHECK(sum[k] == 1.0f + expected[k]);
    round_rows_to_blocks<float>(formats[c], rounded, 1280);
    CHECK(rounded == expected);
    std::vector<std::byte> wire(message_bytes(codecs[c], 1280));
    encode_message(codecs[c], x, {}, wire);
    CHECK(wire == message);
    std::vector<float> decoded(x.size());
    decode_message(codecs[c], wire, decoded);
    CHECK(decoded == expected);
  }
}

TEST_CASE("the bytes of a block are its elements and its scale") {
  std::vector<float> x(32, 0.0f);
  x[0] = 1.0f, x[1] = -6.0f, x[31] = 0.5f;  // exponent 2 less that of 6: a scale of 1
  std::vector<std::byte> out(mxfp4.bytes(32));
  encode_blocks(mxfp4, x, out);
  CHECK(out.size() == 17);
  CHECK(static_cast<int>(out[0]) == (0b1111 << 4 | 0b0010));
  CHECK(static_cast<int>(out[15]) == (0b0001 << 4));
  CHECK(static_cast<int>(out[16]) == 127);
  out.resize(mxfp8_e4m3.bytes(33));
  x.push_back(3.5f);
  encode_blocks(mxfp8_e4m3, x, out);
  CHECK(out.size() == 66);
  CHECK(static_cast<int>(out[32]) == 127 + 2 - 8);
  CHECK(static_cast<int>(out[65]) == 127 + 1 - 8);
  CHECK(e4m3.value(static_cast<std::uint8_t>(out[33])) == 3.5 * 128.0);
  CHECK_THROWS_AS(encode_blocks(mxfp4, x, out), InternalError);
}

TEST_CASE("a block with a number that is not finite is not a number, its neighbours are untouched") {
  for (const auto& format : {mxfp8_e4m3, mxfp8_e5m2, mxfp4})
    for (const double bad : {not_a_number, infinity}) {
      std::vector<float> x(64, 2.0f);
      x[40] = static_cast<float>(bad);
      std::vector<std::byte> message(format.bytes(64));
      encode_blocks(format, x, message);
      std::vector<float> y(64);
      decode_blocks(format, message, y);
      round_rows_to_blocks<float>(format, x, 64);
      for (std::size_t k = 0; k < 64; ++k) {
        CHECK(std::isnan(y[k]) == (k >= 32));
        CHECK(std::isnan(x[k]) == (k >= 32));
      }
    }
}

TEST_CASE("blocks lie along rows or along columns, of any number of them") {
  const std::size_t rows = 70, columns = 45;
  std::vector<double> x(rows * columns), turned(rows * columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < columns; ++k)
      turned[k * rows + i] = x[i * columns + k] = std::pow(normal(i * columns + k, 3), 3.0);
  for (const auto& format : {mxfp8_e4m3, mxfp8_e5m2, mxfp4}) {
    auto by_columns = x, by_rows = turned;
    round_columns_to_blocks<double>(format, by_columns, columns);
    round_rows_to_blocks<double>(format, by_rows, rows);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t k = 0; k < columns; ++k) CHECK(by_columns[i * columns + k] == by_rows[k * rows + i]);
    CHECK(by_columns != x);
  }
}
