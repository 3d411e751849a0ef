// Sums that depend neither on order nor on ranks, against integers and __float128.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/numerics/exact_sum.hpp"
#include "tests/catch.hpp"

using namespace cambium;

namespace {

std::vector<double> numbers(int count, double spread, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> mantissa(-1.0, 1.0), exponent(-spread, spread);
  std::vector<double> out;
  for (int k = 0; k < count; ++k) out.push_back(std::ldexp(mantissa(engine), static_cast<int>(exponent(engine))));
  return out;
}

double sum_of(const std::vector<double>& values) {
  ExactSum sum;
  for (const double v : values) sum.add(v);
  return sum.value();
}

}  // namespace

TEST_CASE("a sum is the one of wider numbers, rounded once") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const auto values = numbers(1000, 20.0, seed);
    __float128 wide = 0;  // 113 bits hold these exactly: 53 + 40 + 10
    for (const double v : values) wide += v;
    CHECK(sum_of(values) == static_cast<double>(wide));
  }
}

TEST_CASE("what cancels leaves nothing, and what is small stays") {
  CHECK(sum_of({1e300, 1.0, -1e300}) == 1.0);
  CHECK(sum_of({1e300, -1e300}) == 0.0);
  CHECK(sum_of({}) == 0.0);
  CHECK(sum_of({-3.5}) == -3.5);
  CHECK(sum_of({1.0, std::ldexp(1.0, -53)}) == 1.0);                        // half a unit: to even
  CHECK(sum_of({1.0, std::ldexp(1.0, -53), std::ldexp(1.0, -400)}) > 1.0);  // a little more than half
  CHECK(sum_of({-1.0, -std::ldexp(1.0, -53), -std::ldexp(1.0, -400)}) < -1.0);
  const double least = std::numeric_limits<double>::denorm_min(), most = std::numeric_limits<double>::max();
  CHECK(sum_of({least, least, -least}) == least);
  CHECK(sum_of({most, -most, least}) == least);
  CHECK(sum_of({most}) == most);
}

TEST_CASE("what is no number makes the sum none") {
  CHECK(std::isnan(sum_of({1.0, std::numeric_limits<double>::quiet_NaN()})));
  CHECK(std::isnan(sum_of({std::numeric_limits<double>::infinity()})));
}

TEST_CASE("order and ranks change no bit") {
  const Comm comm;
  auto values = numbers(4001, 300.0, 7);
  const double expected = sum_of(values);
  CHECK(expected != 0.0);
  std::shuffle(values.begin(), values.end(), std::mt19937(3));
  CHECK(sum_of(values) == expected);
  const std::size_t first = values.size() * comm.rank() / comm.size(),
                    last = values.size() * (comm.rank() + 1) / comm.size();
  CHECK(exact_sum(std::span(values).subspan(first, last - first), comm) == expected);
}
