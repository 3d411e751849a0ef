// Scores against their definitions, pair by pair.
#include <cmath>
#include <vector>

#include "core/parallel/random.hpp"
#include "plugins/relate/tasks/scores.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::relate;

TEST_CASE("concordance is the share of pairs in the right order, with ties") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::vector<double> truth, predicted;
    for (std::uint64_t k = 0; k < 5 + 3 * seed; ++k) {
      const Random4 r(seed, Stream::test, k, 0);
      truth.push_back(std::floor(6.0 * r.uniform(0)));
      predicted.push_back(std::floor(8.0 * r.uniform(1)));
    }
    double good = 0.0, pairs = 0.0;
    for (std::size_t i = 0; i < truth.size(); ++i)
      for (std::size_t j = 0; j < truth.size(); ++j) {
        if (!(truth[i] < truth[j])) continue;
        pairs += 1.0;
        good += predicted[i] < predicted[j] ? 1.0 : predicted[i] == predicted[j] ? 0.5 : 0.0;
      }
    CHECK(concordance(truth, predicted) == Approx(good / pairs).epsilon(1e-14));
  }
  const std::vector<double> same{1.0, 1.0}, other{1.0, 2.0};
  CHECK(std::isnan(concordance(same, other)));
  const std::vector<double> lost{1.0, std::nan(""), 0.5}, known{1.0, 2.0, 3.0};
  CHECK(std::isnan(concordance(known, lost)));
}

TEST_CASE("the area under the curve, errors and log loss") {
  const std::vector<double> truth{0.0, 1.0, 1.0, 0.0}, p{0.1, 0.8, 0.4, 0.6};
  CHECK(area_under_curve(truth, p, 0.5) == Approx(0.75));
  CHECK(mean_squared_error(truth, p) == Approx((0.01 + 0.04 + 0.36 + 0.36) / 4.0));
  CHECK(log_loss(truth, p) ==
        Approx(-(std::log(0.9) + std::log(0.8) + std::log(0.4) + std::log(0.4)) / 4.0).epsilon(1e-12));
}

TEST_CASE("two predictions are put together in the shares that err least") {
  std::vector<double> truth, first, second;
  for (std::uint64_t k = 0; k < 40; ++k) {
    const Random4 r(4, Stream::test, k, 1);
    truth.push_back(r.normal(0));
    first.push_back(truth.back() + 0.5 * r.normal(1));
    second.push_back(0.8 * truth.back() + 0.4 * r.normal(2));
  }
  const auto error = [&](double w) {
    std::vector<double> both;
    for (std::size_t k = 0; k < truth.size(); ++k) both.push_back(w * first[k] + (1.0 - w) * second[k]);
    return mean_squared_error(truth, both);
  };
  const double w = share_of_first(truth, first, second);
  CHECK(w > 0.05);
  CHECK(w < 0.95);
  CHECK(error(w) < error(w + 0.01));
  CHECK(error(w) < error(w - 0.01));
  CHECK(share_of_first(truth, truth, second) == Approx(1.0));
  CHECK(share_of_first(truth, second, truth) == Approx(0.0).margin(1e-12));
  CHECK(share_of_first(truth, first, first) == 0.5);
}
