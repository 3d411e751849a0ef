#include <algorithm>
#include <numeric>

#include "core/train/kinds/epoch_order.hpp"
#include "tests/catch.hpp"

using namespace cambium::train;

TEST_CASE("a computed order is a permutation with an inverse, of any number of samples") {
  for (const std::int64_t n : {1, 2, 3, 5, 10, 97, 1000, 1023, 1024, 1025}) {
    const FeistelOrder order(5, 2, n);
    std::vector<std::int64_t> ids;
    for (std::int64_t k = 0; k < n; ++k) {
      ids.push_back(order.at(k));
      REQUIRE(order.place_of(ids.back()) == k);
    }
    std::sort(ids.begin(), ids.end());
    for (std::int64_t k = 0; k < n; ++k) REQUIRE(ids[k] == k);
  }
  const std::int64_t many = 3'000'000'000'000;
  const FeistelOrder order(5, 2, many);
  for (std::int64_t k = 0; k < 1000; ++k) {
    const std::int64_t id = order.at(k * (many / 1000));
    REQUIRE((id >= 0 && id < many));
    REQUIRE(order.place_of(id) == k * (many / 1000));
  }
}

TEST_CASE("computed orders of epochs and seeds are independent") {
  // Every sample comes at every tenth of an epoch equally often: chi squared of 10 x 10 cells, 81 degrees of freedom.
  // Its mean is 81 and its standard deviation 12.7; five of these above the mean are exceeded once in 10^5 seeds.
  const std::int64_t n = 1000, epochs = 200;
  std::vector<double> cells(100, 0.0);
  std::int64_t fixed = 0;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    const FeistelOrder order(11, epoch, n);
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t id = order.at(k);
      fixed += id == k;
      cells[k / 100 * 10 + id / 100] += 1.0;
    }
  }
  double chi = 0.0;
  const double mean = static_cast<double>(epochs * n) / 100;
  for (const double cell : cells) chi += (cell - mean) * (cell - mean) / mean;
  CHECK(chi < 81 + 5 * 12.7);
  // A random permutation has one fixed point on average, with variance one.
  CHECK(static_cast<double>(fixed) == Approx(static_cast<double>(epochs)).margin(5 * std::sqrt(epochs)));
  const FeistelOrder a(11, 3, n), b(12, 3, n);
  std::int64_t same = 0;
  for (std::int64_t k = 0; k < n; ++k) same += a.at(k) == b.at(k);
  CHECK(same < 10);
}

TEST_CASE("an epoch's order and places agree, stored and computed") {
  BatchPlan plan{.seed = 5, .samples = 300, .batch = 7};
  for (const auto permutation : {BatchPlan::Permutation::stored, BatchPlan::Permutation::computed}) {
    plan.permutation = permutation;
    const bool stored = permutation == BatchPlan::Permutation::stored;
    EpochOrder order(plan, 4);
    order.add_order();
    CHECK(order.epoch() == 4);
    for (std::int64_t k = 0; k < 300; ++k) {
      REQUIRE(order.place_of(order.at(k)) == k);
      if (stored) REQUIRE(order.at(k) == epoch_order(5, 4, 300)[k]);
    }
    CHECK(order.bytes() == (stored ? 8 * 300 : 0));
  }
}
