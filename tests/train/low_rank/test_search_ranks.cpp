// Ranks by descent: within the time, near the best of all combinations, and the network as it was.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/parallel/random.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/data/expression_set.hpp"
#include "core/train/low_rank/baselines.hpp"
#include "core/train/low_rank/decompose.hpp"
#include "core/train/low_rank/equal_time.hpp"
#include "core/train/low_rank/search_ranks.hpp"
#include "core/train/networks/mlp/mlp.hpp"
#include "tests/catch.hpp"
#include "tests/train/world.hpp"

using namespace cambium;
using namespace cambium::train;
using cambium::train::testing::World;

namespace {

/// A network whose layers of 16 x 16 have few large singular values, as many as `few` says of each.
struct Case {
  World world;
  LoadedModel whole;
  std::vector<SamplePtr> samples;
  CostTable costs;

  explicit Case(const std::vector<int>& few) {
    ExpressionSet::Params p;
    p.samples = 60;
    p.box = {{"x", {-1.0, 1.0}}, {"y", {0.0, 2.0}}};
    p.target = {{"u", "sin(3*x)*y"}};
    ExpressionSet data(p, world.context);
    Mlp::Params keys;
    keys.layers.assign(few.size() + 1, 16);
    keys.precision = Precision::float64;
    auto net = std::make_unique<Mlp>(keys, world.context);
    net->fit_statistics(data, world.context);
    whole.layout = std::make_unique<FlatLayout>(net->parameters(), 1000);
    whole.weights = FlatBuffer(*whole.layout, DType::f64);
    net->initialise(whole.weights.views(), 7);
    whole.network = std::move(net);
    std::vector<std::int64_t> ids(60);
    for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = static_cast<std::int64_t>(k);
    samples = data.read(ids);
    costs.layers = whole.network->traits().factors->factor_layers();
    for (std::size_t layer = 1; layer <= few.size(); ++layer) {
      const auto w = read_layer(costs.layers[layer], whole.weights);
      auto near = multiplied(factors_of(w, few[layer - 1]), 16, 16, 1);
      for (std::size_t k = 0; k < near.values.size(); ++k) near.values[k] += 0.03 * (w.values[k] - near.values[k]);
      write_layer(near, costs.layers[layer], whole.weights);
    }
    train();
    costs.loss = loss_of(*whole.network, whole.weights, samples, 60);
    costs.seconds = 5.0 * static_cast<double>(few.size());
    costs.candidates.assign(few.size() + 2, {});
    costs.candidates.front() = costs.candidates.back() = {{0}};
    for (std::size_t layer = 1; layer <= few.size(); ++layer) {
      for (const int rank : {1, 2, 4, 8}) costs.candidates[layer].push_back({rank, 0.0, 0.5 * rank - 4.5});
      costs.candidates[layer].push_back({0});
    }
  }
  /// Some steps of Adam, so that losses say something.
  void train() {
    FlatBuffer g(*whole.layout, DType::f64), m(*whole.layout, DType::f64), v(*whole.layout, DType::f64);
    const double one[] = {1.0};
    for (int step = 1; step <= 300; ++step) {
      g.zero();
      TermSum term[1];
      whole.network->gradient(samples, whole.weights.views(), one, g.views(), term, [](int) {});
      const auto w = whole.weights.values<double>(), d = g.values<double>(), mean = m.values<double>(),
                 square = v.values<double>();
      for (std::size_t k = 0; k < w.size(); ++k) {
        mean[k] = 0.9 * mean[k] + 0.1 * d[k] / 60.0;
        square[k] = 0.99 * square[k] + 0.01 * d[k] * d[k] / 3600.0;
        w[k] -= 5e-3 * mean[k] / (std::sqrt(square[k]) + 1e-9);
      }
    }
  }
  double loss(const std::vector<std::size_t>& choice) {
    std::vector<LayerWeights> kept;
    for (std::size_t l = 0; l < choice.size(); ++l) {
      kept.push_back(read_layer(costs.layers[l], whole.weights));
      const auto rank = costs.candidates[l][choice[l]].rank;
      if (rank > 0) write_layer(multiplied(factors_of(kept[l], rank), 16, 16, 1), costs.layers[l], whole.weights);
    }
    const double out = loss_of(*whole.network, whole.weights, samples, 60);
    for (std::size_t l = 0; l < choice.size(); ++l) write_layer(kept[l], costs.layers[l], whole.weights);
    return out;
  }
  /// Losses of each layer alone, as measure_costs() finds them.
  void look_at_layers() {
    for (std::size_t l = 0; l < costs.layers.size(); ++l)
      for (std::size_t k = 0; k + 1 < costs.candidates[l].size(); ++k) {
        Choice alone;
        for (const auto& list : costs.candidates) alone.push_back(list.size() - 1);
        alone[l] = k;
        costs.candidates[l][k].loss = std::max(loss(alone) - costs.loss, 0.0);
      }
  }
  /// Ranks that rise in any order as long as the time allows.
  Choice random(std::uint64_t id, double seconds) const {
    Choice out(costs.candidates.size(), 0);
    std::vector<std::pair<double, std::size_t>> raises;
    for (std::size_t l = 0; l < out.size(); ++l)
      for (std::size_t k = 1; k < costs.candidates[l].size(); ++k)
        raises.push_back({Random4(9, Stream::test, id, 10 * l + k).uniform(0), l});
    std::sort(raises.begin(), raises.end());
    for (const auto& [turn, l] : raises)
      if (++out[l]; costs.predicted(out) > seconds) --out[l];
    return out;
  }
};

}  // namespace

TEST_CASE("searched ranks are within the time, and as good as any combination") {
  Case c({2, 8});
  const auto before = c.whole.weights.values<double>();
  const std::vector<double> kept(before.begin(), before.end());
  SearchKeys keys;
  keys.batch = 60;
  for (const double seconds : {9.0, 7.0, 5.0, 3.0}) {
    INFO("within " << seconds << " s");
    const auto found = search_ranks(c.costs, c.whole, c.samples, seconds, keys, c.world.context);
    REQUIRE(found.choice.size() == 4);
    CHECK(c.costs.predicted(found.choice) <= seconds + 1e-12);
    double best = std::numeric_limits<double>::infinity(), worst = 0.0;
    for (std::size_t a = 0; a < 5; ++a)
      for (std::size_t b = 0; b < 5; ++b)
        if (c.costs.predicted({0, a, b, 0}) <= seconds) {
          best = std::min(best, c.loss({0, a, b, 0}));
          worst = std::max(worst, c.loss({0, a, b, 0}));
        }
    const double its = c.loss(found.choice);
    INFO("best " << best << ", worst " << worst << ", whole " << c.costs.loss);
    CHECK(worst > 1.2 * best);
    CHECK(its <= 1.05 * best);
    for (const auto& chances : found.chances) {
      double sum = 0.0;
      for (const double p : chances) sum += p;
      CHECK(sum == Approx(1.0));
    }
  }
  const auto after = c.whole.weights.values<double>();
  for (std::size_t k = 0; k < kept.size(); ++k) REQUIRE(after[k] == kept[k]);
  // No combination takes less than two seconds.
  CHECK(search_ranks(c.costs, c.whole, c.samples, 1.0, keys, c.world.context).choice.empty());
}

TEST_CASE("searched ranks lose less than the best of many random ones, and than equal ones, in the same time") {
  Case c({2, 8, 4, 2, 8});
  c.look_at_layers();
  SearchKeys keys;
  keys.batch = 60;
  for (const double seconds : {20.0, 17.0, 13.0, 9.0}) {
    INFO("within " << seconds << " s");
    const auto found = search_ranks(c.costs, c.whole, c.samples, seconds, keys, c.world.context);
    REQUIRE(found.choice.size() == 7);
    std::vector<double> random;
    for (std::uint64_t id = 0; id < 25; ++id) random.push_back(c.loss(c.random(id, seconds)));
    std::sort(random.begin(), random.end());
    const double its = c.loss(found.choice),
                 table = c.loss(choose_ranks(c.costs.candidates, seconds - c.costs.seconds));
    INFO("search " << its << ", table " << table << ", random " << random[0] << ", " << random[12] << ", whole "
                   << c.costs.loss);
    CHECK(c.costs.predicted(found.choice) <= seconds + 1e-12);
    CHECK(random[12] > 1.2 * its);
    CHECK(its <= random[0]);
    CHECK(its <= c.loss(equal_shares(c.costs, seconds)));
    CHECK(its <= c.loss(equal_energy(c.costs, seconds)));
  }
}
