// Random samples of submatrices and the intervals that they give.
#include <set>

#include "core/parallel/random.hpp"
#include "plugins/submatrix/blocks/error_sample.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::submatrix;

namespace {

std::vector<StratifiedSample::Unit> units(int count, std::uint64_t seed) {
  std::vector<StratifiedSample::Unit> out;
  for (int k = 0; k < count; ++k)
    out.push_back({3 * k, std::exp(2.0 * Random4(seed, Stream::test, static_cast<std::uint64_t>(k), 0).normal(0))});
  return out;
}

}  // namespace

TEST_CASE("a sample is drawn from the seed, without repetition, and is complete where there is no more") {
  const StratifiedSample a(units(500, 1), 16, 7), b(units(500, 1), 16, 7), c(units(500, 1), 16, 8),
      all(units(10, 1), 5, 7);
  CHECK(a.drawn() == b.drawn());
  CHECK(a.drawn() != c.drawn());
  CHECK(std::set<int>(a.drawn().begin(), a.drawn().end()).size() == 16);
  CHECK(!a.complete());
  CHECK(all.complete());
  CHECK(all.drawn().size() == 10);
  const std::vector<double> ones(10, 2.5);
  CHECK(all.sum(ones).total == Approx(25.0));
  CHECK(all.sum(ones).half_width == 0.0);
  CHECK(StratifiedSample(units(10, 1), 0, 7).drawn().empty());
  for (int size : {1, 2, 3, 5, 7, 9, 10, 17, 249})
    CHECK(StratifiedSample(units(500, 1), size, 7).drawn().size() == static_cast<std::size_t>(size));
}

TEST_CASE("what is the same everywhere is told apart from what is known") {
  std::vector<StratifiedSample::Unit> same;
  for (int k = 0; k < 100; ++k) same.push_back({k, 1.0});
  const StratifiedSample sample(same, 8, 3);
  const auto sum = sample.sum(std::vector<double>(8, 0.5));
  CHECK(sum.total == Approx(50.0));
  CHECK(sum.half_width == Approx(0.0).margin(1e-12));
  CHECK(sum.alike);
  // Every stretch of the order has been drawn from: neighbours in the file are not all there is.
  CHECK(*std::max_element(sample.drawn().begin(), sample.drawn().end()) - sample.drawn().front() > 20);
}

TEST_CASE("sums of heavy-tailed values lie in their intervals in 95 of 100 cases") {
  int covered = 0;
  constexpr int trials = 1000;
  for (std::uint64_t seed = 1; seed <= trials; ++seed) {
    const auto all = units(300, seed);
    std::vector<double> value;
    double exact = 0.0;
    for (const auto& unit : all) {
      value.push_back(unit.score *
                      (1.0 + 0.5 * Random4(seed, Stream::test, static_cast<std::uint64_t>(unit.id), 1).normal(0)));
      exact += value.back();
    }
    const StratifiedSample sample(all, 16, seed);
    std::vector<double> seen;
    for (int id : sample.drawn()) seen.push_back(value[id / 3]);
    const auto sum = sample.sum(seen);
    covered += std::abs(sum.total - exact) <= sum.half_width ? 1 : 0;
  }
  INFO(covered);
  CHECK(covered > 0.93 * trials);
  CHECK(covered < trials);
}

TEST_CASE("quantiles of Student's t") {
  CHECK(student_quantile(0.5) == Approx(12.706));
  CHECK(student_quantile(3.0) == Approx(3.182));
  CHECK(student_quantile(3.9) == Approx(3.182));
  CHECK(student_quantile(30.0) == Approx(2.042));
  CHECK(student_quantile(60.0) == Approx(2.000).margin(2e-3));
  CHECK(student_quantile(1e6) == Approx(1.960).margin(1e-3));
}
