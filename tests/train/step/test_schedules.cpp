#include <cmath>
#include <numbers>

#include "core/deck/node.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/data/subset.hpp"
#include "core/train/kinds/batch_plan.hpp"
#include "core/train/register.hpp"
#include "core/train/run/train.hpp"
#include "core/train/step/learning_rate.hpp"
#include "tests/catch.hpp"
#include "tests/train/world.hpp"

using namespace cambium;
using namespace cambium::train;

namespace {

struct Trained : testing::World {
  Registry registry;
  Trained() {
    register_training(registry);
    context.registry = &registry;
  }
  std::unique_ptr<LearningRate> rate(const std::string& keys) {
    const auto node = deck::parse(keys, "test");
    return registry.make<LearningRate>(node["type"].text(), node.without([](const auto& k) { return k == "type"; }),
                                       context);
  }
};

}  // namespace

TEST_CASE("schedules are their formulas") {
  Trained world;
  REQUIRE(world.rate("{type: constant, start: 0.1}")->at(7, 100) == 0.1);
  REQUIRE(world.rate("{type: linear, start: 1, stop: 0}")->at(25, 100) == Approx(0.75));
  REQUIRE(world.rate("{type: linear, start: 1, stop: 0, steps: 50}")->at(25, 100) == Approx(0.5));
  REQUIRE(world.rate("{type: linear, start: 1, stop: 0, steps: 50}")->at(70, 100) == 0.0);
  const auto stable = [&](const std::string& more) {
    return world.rate("{type: wsd, start: 1, stop: 0.2" + more + "}");
  };
  REQUIRE(stable("")->at(79, 100) == 1.0);
  REQUIRE(stable("")->at(90, 100) == Approx(0.6));
  REQUIRE(stable(", decay: 40")->at(60, 100) == 1.0);
  REQUIRE(stable(", decay: 40, shape: cosine")->at(70, 100) ==
          Approx(0.2 + 0.4 * (1 + std::cos(std::numbers::pi / 4))));
  REQUIRE(stable(", decay: 40, shape: root")->at(70, 100) == Approx(0.2 + 0.8 * 0.5));
  REQUIRE(stable(", decay: 400")->at(100, 100) == Approx(0.2));
  REQUIRE(world.rate("{type: polynomial, start: 1, stop: 0.1, power: 2}")->at(50, 100) == Approx(0.1 + 0.9 * 0.25));
  REQUIRE(world.rate("{type: cosine, start: 1, stop: 0.2}")->at(30, 100) ==
          Approx(0.2 + 0.4 * (1 + std::cos(0.3 * std::numbers::pi))));
  REQUIRE(world.rate("{type: step, start: 1, factor: 0.5, at: [10, 20]}")->at(9, 100) == 1.0);
  REQUIRE(world.rate("{type: step, start: 1, factor: 0.5, at: [10, 20]}")->at(10, 100) == 0.5);
  REQUIRE(world.rate("{type: step, start: 1, factor: 0.5, at: [10, 20]}")->at(99, 100) == 0.25);
  REQUIRE(world.rate("{type: step, start: 1, factor: 0.5, every: 30}")->at(61, 100) == 0.25);
}

namespace {
/// torch.optim.lr_scheduler.ReduceLROnPlateau, mode min, threshold_mode rel.
struct PlainPlateau {
  double rate, factor, threshold, least;
  int patience, cooldown, bad = 0, cooling = 0;
  double best = HUGE_VAL;
  void step(double measure) {
    const bool better = measure < (std::isinf(best) ? best : best * (1 - threshold));
    if (better) best = measure;
    bad = better ? 0 : bad + 1;
    if (cooling > 0) --cooling, bad = 0;
    if (bad <= patience) return;
    rate = std::max(rate * factor, least);
    cooling = cooldown;
    bad = 0;
  }
};
}  // namespace

TEST_CASE("reduce_on_plateau is ReduceLROnPlateau, also when it goes on from what was kept") {
  Trained world;
  const std::string keys =
      "{type: reduce_on_plateau, start: 1, factor: 0.5, patience: 2, threshold: 0.05, cooldown: 2, min: 0.1}";
  auto rate = world.rate(keys);
  REQUIRE(rate->needs_validations());
  REQUIRE_FALSE(world.rate("{type: constant, start: 1}")->needs_validations());
  PlainPlateau plain{1.0, 0.5, 0.05, 0.1, 2, 2};
  std::vector<double> rates;
  for (int k = 0; k < 60; ++k) {
    const double measure = 1.0 + std::exp(-0.3 * k) + 0.04 * std::sin(7.0 * k);
    if (k % 7 == 3) {
      auto later = world.rate(keys);
      later->take(rate->kept());
      rate = std::move(later);
    }
    rates.push_back(plain.rate);
    REQUIRE(rate->at(10 * k, 1000) == Approx(plain.rate));
    plain.step(measure);
    rate->judge(10 * (k + 1), measure);
  }
  REQUIRE(rates.back() == 0.1);
  for (int k = 0; k < 60; ++k) REQUIRE(rate->at(10 * k, 1000) == Approx(rates[k]));  // of steps in the past, too
}

TEST_CASE("a sequence hands validations to the schedule that is under way") {
  Trained world;
  const std::string keys =
      "{type: sequence, schedules: [{steps: 10, rate: {type: constant, start: 2}}, {rate: {type: reduce_on_plateau, "
      "start: 1, patience: 0, factor: 0.5}}]}";
  auto rate = world.rate(keys);
  REQUIRE(rate->needs_validations());
  for (std::int64_t step : {5, 8, 12, 14, 16}) rate->judge(step, 1.0);  // the first two are not counted
  REQUIRE(rate->at(9, 100) == 2.0);
  REQUIRE(rate->at(13, 100) == 1.0);
  REQUIRE(rate->at(14, 100) == 0.5);
  auto later = world.rate(keys);
  later->take(rate->kept());
  REQUIRE(later->at(16, 100) == 0.25);
}

TEST_CASE("the exponential is DeePMD-kit's: stairs of ratio (stop/start)^(every/total)") {
  Trained world;
  const auto rate = world.rate("{type: exponential, start: 1e-3, stop: 3.51e-8, every: 5000}");
  const double ratio = std::pow(3.51e-8 / 1e-3, 5000.0 / 1000000.0);
  REQUIRE(ratio == Approx(0.95).epsilon(1e-3));
  for (std::int64_t step : {0, 4999, 5000, 123456, 999999})
    REQUIRE(rate->at(step, 1000000) == Approx(1e-3 * std::pow(ratio, static_cast<double>(step / 5000))).epsilon(1e-12));
  REQUIRE(world.rate("{type: exponential, start: 1, stop: 0.01, every: 10, smooth: true}")->at(50, 100) == Approx(0.1));
}

TEST_CASE("sequences and warm-up join schedules without a gap") {
  Trained world;
  const auto rate = world.rate(
      "{type: sequence, schedules: [{steps: 10, rate: {type: linear, start: 0, stop: 1}}, {rate: {type: cosine, start: "
      "1, "
      "stop: 0}}]}");
  REQUIRE(rate->at(5, 110) == Approx(0.5));
  REQUIRE(rate->at(10, 110) == Approx(1.0));
  REQUIRE(rate->at(60, 110) == Approx(0.5));
  const WarmUp warm_up{10, 0.1};
  const auto cosine = world.rate("{type: cosine, start: 1, stop: 0}");
  REQUIRE(warm_up.at(*cosine, 0, 110) == Approx(0.1 + 0.9 * 0.1));
  REQUIRE(warm_up.at(*cosine, 9, 110) == Approx(1.0));
  REQUIRE(warm_up.at(*cosine, 10, 110) == Approx(1.0));
  REQUIRE(warm_up.at(*cosine, 60, 110) == Approx(0.5));
}

TEST_CASE("an epoch's order is a permutation that only the seed and the epoch decide") {
  const auto a = epoch_order(5, 2, 1000);
  REQUIRE(a == epoch_order(5, 2, 1000));
  REQUIRE(a != epoch_order(5, 3, 1000));
  REQUIRE(a != epoch_order(6, 2, 1000));
  auto sorted = a;
  std::sort(sorted.begin(), sorted.end());
  for (std::int64_t k = 0; k < 1000; ++k) REQUIRE(sorted[k] == k);
}

TEST_CASE("ranks' slices are the global batch, cut alike for any number of ranks when ordered") {
  for (std::int64_t size : {1, 5, 8, 13, 64}) {
    BatchPlan plan;
    plan.ordered = true;
    plan.slices = 8;
    const auto whole = slices_of(plan, size);
    REQUIRE(whole.size() == 8);
    for (int ranks : {2, 4, 8}) {
      std::vector<std::pair<std::int64_t, std::int64_t>> joined;
      for (plan.ranks = ranks, plan.rank = 0; plan.rank < ranks; ++plan.rank)
        for (auto slice : slices_of(plan, size)) joined.push_back(slice);
      REQUIRE(joined == whole);
      plan.rank = 0;
      plan.ranks = 1;
    }
    for (int ranks : {3, 5, 6, 7})
      for (int turns = 1; turns <= ranks; ++turns) {
        if (ranks % turns != 0) continue;
        std::vector<std::pair<std::int64_t, std::int64_t>> found(
            static_cast<std::size_t>((8 + ranks - 1) / ranks * ranks), {-1, -1});
        plan.turns = turns;
        for (plan.ranks = ranks, plan.rank = 0; plan.rank < ranks; ++plan.rank) {
          const auto own = slices_of(plan, size);
          REQUIRE(std::ssize(own) == plan.own_slices());
          for (std::size_t k = 0; k < own.size(); ++k) {
            auto& place = found.at(static_cast<std::size_t>(plan.slice_number(static_cast<std::int64_t>(k))));
            REQUIRE(place.first == -1);
            place = own[k];
          }
        }
        for (std::size_t k = 0; k < found.size(); ++k)
          REQUIRE(found[k] == (k < 8 ? whole[k] : std::pair<std::int64_t, std::int64_t>(size, size)));
        plan.rank = 0;
        plan.ranks = plan.turns = 1;
      }
    REQUIRE(whole.front().first == 0);
    REQUIRE(whole.back().second == size);
  }
}

TEST_CASE("held-out samples and the others are the whole") {
  const auto [held, rest] = hold_out(3, 200, 0.15);
  REQUIRE(held.size() == 30);
  auto all = held;
  all.insert(all.end(), rest.begin(), rest.end());
  std::sort(all.begin(), all.end());
  for (std::int64_t k = 0; k < 200; ++k) REQUIRE(all[k] == k);
}
