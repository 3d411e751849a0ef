#include <numeric>

#include "core/base/key_error.hpp"
#include "core/deck/node.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/data/buffered_loader.hpp"
#include "core/train/data/mixture_set.hpp"
#include "core/train/data/shuffle_loader.hpp"
#include "core/train/data/subset.hpp"
#include "core/train/register.hpp"
#include "tests/catch.hpp"
#include "tests/train/world.hpp"

using namespace cambium;
using namespace cambium::train;

namespace {

/// Files without samples, say.
struct NoSamples : Dataset {
  struct Params {
    static void describe(deck::Describe<Params>&) {}
  };
  NoSamples(const Params&, Context&) {}
  void open(Context&) override {}
  std::int64_t size() const override { return 0; }
  std::vector<FieldInfo> fields() const override { return {{"input", "", {1}}, {"target", "", {1}}}; }
  std::vector<SamplePtr> read(std::span<const std::int64_t>) override { return {}; }
};

/// One sample of a flow whose Rayleigh number is stated.
struct OfRayleigh : Dataset, HasConditions {
  struct Params {
    double rayleigh = 0.0;
    static void describe(deck::Describe<Params>& d) { d("rayleigh", &Params::rayleigh, "Rayleigh number"); }
  };
  OfRayleigh(const Params& params, Context&) : params_(params) {}
  void open(Context&) override {}
  std::int64_t size() const override { return 1; }
  std::vector<FieldInfo> fields() const override { return {{"input", "", {1}}, {"target", "", {1}}}; }
  std::vector<SamplePtr> read(std::span<const std::int64_t>) override { return {}; }
  std::vector<Condition> conditions() const override { return {{"rayleigh", params_.rayleigh, params_.rayleigh}}; }
  Params params_;
};

struct Mixed : testing::World {
  Registry registry;
  Mixed() {
    register_training(registry);
    registry.add<NoSamples>("none", "no samples");
    registry.add<OfRayleigh>("flow", "of a flow");
    context.registry = &registry;
  }
  std::unique_ptr<Dataset> set(const std::string& keys) {
    const auto node = deck::parse(keys, "test");
    auto out =
        registry.make<Dataset>(node["type"].text(), node.without([](const auto& k) { return k == "type"; }), context);
    out->open(context);
    return out;
  }
  std::string refusal(const std::string& keys) {
    try {
      set(keys);
    } catch (const KeyError& error) {
      return error.key() + ": " + error.what();
    }
    return "none";
  }
};

double input_of(const Sample& sample) { return static_cast<const double*>(sample.fields.at("input").data)[0]; }

const std::string low = "{type: expression, samples: 7, seed: 3, box: {x: [0, 1]}, target: {y: x}}",
                  high = "{type: expression, samples: 3, seed: 4, box: {x: [10, 11]}, target: {y: 2*x}}";

}  // namespace

TEST_CASE("shares of a mixture") {
  const auto counts = [](std::vector<double> weights, std::vector<std::int64_t> sizes,
                         std::optional<std::int64_t> samples) { return counts_of_mixture(weights, sizes, samples); };
  using Counts = std::vector<std::int64_t>;
  CHECK(counts({1, 1}, {7, 3}, {}) == Counts{7, 7});
  CHECK(counts({2, 1}, {7, 3}, {}) == Counts{7, 4});  // 3.5 rounded
  CHECK(counts({1, 10}, {7, 3}, {}) == Counts{7, 70});
  CHECK(counts({7, 3}, {7, 3}, {}) == Counts{7, 3});
  CHECK(counts({1, 1, 1}, {5, 5, 5}, 10) == Counts{4, 3, 3});
  CHECK(counts({3, 1}, {5, 5}, 100) == Counts{75, 25});
  CHECK(counts({1, 1e-9}, {5, 5}, 10) == Counts{10, 0});
}

TEST_CASE("a mixture has the samples of its sets, each as often as its share says") {
  Mixed world;
  const auto a = world.set(low), b = world.set(high);
  const auto mixture =
      world.set("{type: mixture, samples: 20, sets: [{dataset: " + low + "}, {dataset: " + high + ", weight: 3}]}");
  REQUIRE(mixture->size() == 20);
  std::vector<std::int64_t> ids(20), own_a(7), own_b(3);
  std::iota(ids.begin(), ids.end(), 0);
  std::iota(own_a.begin(), own_a.end(), 0);
  std::iota(own_b.begin(), own_b.end(), 0);
  const auto samples = mixture->read(ids), of_a = a->read(own_a), of_b = b->read(own_b);
  for (std::int64_t id = 0; id < 20; ++id) {
    const auto& sample = *samples[static_cast<std::size_t>(id)];
    CHECK(sample.id == id);
    const auto k = static_cast<std::size_t>(id < 5 ? id : (id - 5) % 3);
    CHECK(input_of(sample) == input_of(id < 5 ? *of_a[k] : *of_b[k]));
  }
  // Any ascending numbers, across sets and passes.
  const std::vector<std::int64_t> some{1, 4, 5, 7, 8, 9, 17, 19};
  const auto few = mixture->read(some);
  for (std::size_t j = 0; j < some.size(); ++j) {
    CHECK(few[j]->id == some[j]);
    CHECK(input_of(*few[j]) == input_of(*samples[static_cast<std::size_t>(some[j])]));
  }
  const auto& mixed = dynamic_cast<const MixtureSet&>(*mixture);
  CHECK(mixed.repeats());
  CHECK(mixture->chunk_of(12) == std::pair<std::int64_t, std::int64_t>{12, 13});
  CHECK_FALSE(dynamic_cast<const MixtureSet&>(*world.set("{type: mixture, sets: [{dataset: " + low +
                                                         ", weight: 7}, {dataset: " + high + ", weight: 3}]}"))
                  .repeats());
}

TEST_CASE("a planned loader takes the recurring samples of a mixture once and delivers what the shuffled loader does") {
  Mixed world;
  const std::string keys =
      "{type: mixture, samples: 40, sets: [{dataset: " + low + "}, {dataset: " + high + ", weight: 3}]}";
  const auto data = world.set(keys), again = world.set(keys);
  CHECK(data->first_copy(8) == 1);
  CHECK(data->first_copy(12) == 12);
  CHECK(data->first_copy(16) == 10);  // samples 10 to 39 are those of the second set, 10 times
  CHECK(data->next_copy(10) == 13);
  CHECK(data->next_copy(39) == -1);
  CHECK(data->plain());
  CHECK(data->origin() == Dataset::Origin::computed);
  const BatchPlan plan{.seed = 2, .samples = 40, .batch = 7, .steps = 18};
  const double all = 10.0 * 128 / 1048576;  // MiB of the 10 samples of both sets
  BufferedLoader planned({.memory = all, .ahead = 0}, world.context);
  ShuffleLoader shuffle({}, world.context);
  planned.open(*data, plan, world.context);
  shuffle.open(*again, plan, world.context);
  for (std::int64_t step = 0; step < plan.steps; ++step) {
    const auto a = planned.batch(step), b = shuffle.batch(step);
    for (std::size_t k = 0; k < b.slices.front().size(); ++k) {
      CHECK(a.slices.front()[k]->id == b.slices.front()[k]->id);
      CHECK(input_of(*a.slices.front()[k]) == input_of(*b.slices.front()[k]));
    }
  }
  CHECK(planned.counts().samples - planned.counts().from_buffer == 10);
}

TEST_CASE("conditions of parts, subsets and mixtures: the range of all, and none that a part does not state") {
  Mixed world;
  const auto two = world.set(
      "{type: mixture, sets: [{dataset: {type: flow, rayleigh: 1e7}}, {dataset: {type: flow, rayleigh: 1e5}}]}");
  const Subset part(*two, {0});
  for (const Dataset* data : {static_cast<const Dataset*>(two.get()), static_cast<const Dataset*>(&part)}) {
    const auto ranges = conditions_of(*data);
    REQUIRE(ranges.size() == 1);
    CHECK(ranges[0].name == "rayleigh");
    CHECK(ranges[0].lowest == 1e5);
    CHECK(ranges[0].highest == 1e7);
  }
  CHECK(conditions_of(
            *world.set("{type: mixture, sets: [{dataset: {type: flow, rayleigh: 1e7}}, {dataset: " + low + "}]}"))
            .empty());
}

TEST_CASE("sets that do not agree are refused") {
  Mixed world;
  const std::string two = "{type: expression, samples: 3, box: {x: [0, 1]}, target: {y: x, z: x}}";
  const auto mixed = world.set("{type: mixture, sets: [{dataset: " + low + "}, {dataset: " + two + "}]}");
  for (const auto& field : mixed->fields())
    CHECK(field.shape == std::vector<std::int64_t>{field.name == "input" ? 1 : -1});
  CHECK(world.refusal("{type: mixture, sets: [{dataset: " + low + "}, {dataset: none}]}") ==
        "dataset.sets: set 2 of the mixture is empty; remove it, or name its files");
  CHECK_THROWS_WITH(world.set("{type: mixture, sets: []}"),
                    Catch::Contains("a mixture needs sets: [{dataset: {...}, weight: 1}, ...]"));
}
