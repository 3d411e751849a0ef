// Adaptive inflation finds the factor by which a spread is too small; scores and rank histograms.
#include "plugins/assimilate/filters/inflation.hpp"
#include "plugins/assimilate/twin/scores.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/assimilate/line_space.hpp"

using namespace cambium;
using namespace cambium::assimilate;
using namespace cambium::assimilate::test;

TEST_CASE("the estimated inflation settles at the variance that is missing") {
  const std::size_t p = 100, members = 20;
  const auto space = line(p, false);
  NetworkKeys keys;
  keys.error = 1.0;
  const auto network = make_network(keys, space, std::vector<double>{1.0});
  AdaptiveInflation inflation(1.0);
  double mean = 0.0;
  // Innovations of variance 1 + 1.5, members of variance 1: the factor is 1.5.
  for (unsigned cycle = 0; cycle < 2000; ++cycle) {
    const auto seen = normals(members * p, 100 + 2 * cycle);
    auto observed = normals(p, 101 + 2 * cycle);
    std::vector<double> centre(p, 0.0);
    for (std::size_t n = 0; n < seen.size(); ++n) centre[n % p] += seen[n] / static_cast<double>(members);
    for (std::size_t i = 0; i < p; ++i) observed[i] = centre[i] + std::sqrt(2.5) * observed[i];
    inflation.update(ObservedEnsemble::of(seen, observed), network);
    if (cycle >= 1000) mean += inflation.value() / 1000.0;
  }
  CHECK(mean == Approx(1.5).epsilon(0.03));
}

TEST_CASE("averages leave out the burn-in and what is not there") {
  std::vector<double> time, value;
  for (int k = 0; k < 100; ++k) time.push_back(k), value.push_back(k < 20 ? 1e9 : k % 2 ? 1.0 : 3.0);
  value[50] = std::nan("");
  const auto out = average(time, value, 19.0);
  CHECK(out.mean == Approx((40 + 39 * 3) / 79.0));
  CHECK(out.error > 0.0);
  CHECK(average(time, value, 500.0).mean == 0.0);
}

TEST_CASE("ranks of an observation like its members are equally frequent") {
  const std::size_t p = 20000, members = 4;
  auto seen = normals(members * p, 1);
  const auto observed = normals(p, 2);
  std::vector<std::int64_t> counts;
  count_ranks(seen, observed, std::vector<double>(members * p, 0.0), counts);
  REQUIRE(counts.size() == 5);
  for (const auto count : counts) CHECK(static_cast<double>(count) == Approx(4000.0).margin(250.0));
  std::fill(counts.begin(), counts.end(), 0);
  for (double& value : seen) value *= 0.5;  // too little spread: the ends are full
  count_ranks(seen, observed, std::vector<double>(members * p, 0.0), counts);
  CHECK(counts[0] > 5000);
  CHECK(counts[4] > 5000);
}
