// How a deck says what is divided, and what it may not say.
#include "core/base/error.hpp"
#include "core/deck/node.hpp"
#include "core/train/weights/divided/partition.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::train;

namespace {

ParallelParams read(const std::string& text) { return deck::read<ParallelParams>(deck::parse(text, "deck")); }

void check(const std::string& text, int ranks, int weights, int gradients, int states) {
  const auto p = partition_of(read(text), ranks);
  CHECK(p.weights == weights);
  CHECK(p.gradients == gradients);
  CHECK(p.states == states);
}

}  // namespace

TEST_CASE("presets are rows of one table") {
  const std::string three = "levels: [{name: pair, size: 2}, {name: node, size: 4}, {name: world}]\npreset: ";
  check("preset: ddp", 8, 0, 0, 0);
  check("preset: zero1", 8, 0, 0, 1);
  check("preset: zero2", 8, 0, 1, 1);
  check("preset: zero3", 8, 1, 1, 1);
  check(three + "zero3", 16, 3, 3, 3);
  check(three + "hybrid", 16, 1, 1, 1);
  check(three + "hpz", 16, 1, 3, 3);
  check(three + "frontier", 16, 1, 2, 3);
  check(
      "levels: [{name: pair, size: 2}, {name: node, size: 4}, {name: world}]\nweights: pair\ngradients: node\nstates: "
      "world",
      16, 1, 2, 3);
  CHECK(partition_of(read(three + "frontier"), 16).levels[2].ranks == 2);
}

TEST_CASE("a partition that cannot be is refused with the way out") {
  const auto refused = [](const std::string& text, int ranks, const std::string& message) {
    CHECK_THROWS_WITH(partition_of(read(text), ranks), message);
  };
  refused("levels: [{name: pair, size: 2}, {name: node, size: 4}, {name: world}]\npreset: frontier", 12,
          "the levels pair 2 x node 4 need a multiple of 8 ranks, but 12 run; change the levels or start 16 ranks");
  refused("levels: [{name: pair, size: 2}, {name: world, size: 2}]\npreset: zero1", 8,
          "the levels pair 2 x world 2 make 4 ranks, but 8 run; change the levels or start 4 ranks");
  refused("levels: [{name: pair}, {name: world}]\npreset: zero1", 4,
          "parallel.levels: 'pair' has no size; only the last level may omit it");
  refused("preset: hpz", 4,
          "preset hpz needs 2 levels, but parallel.levels has 1; for example levels: [{name: node, size: 4}, {name: "
          "world}]");
  refused("states: rack", 4, "parallel.optimizer_states names a level 'rack'; there are: world");
  refused("weights: world", 4,
          "parallel shards weights over 1, gradients over 0 and states over 0 levels; each must be sharded over "
          "no more levels than the next");
  CHECK_THROWS_WITH(read("preset: zero4"), Catch::Contains("zero4") && Catch::Contains("zero3"));
  CHECK_THROWS_WITH(read("preset: zero1\nstates: world"),
                    Catch::Contains("give one of: preset, or the levels of weights, gradients and optimizer_states"));
  CHECK_THROWS_WITH(read("persistence_threshold: 10"),
                    Catch::Contains("divides nothing: give a preset, for example preset: zero1, or the levels of "
                                    "weights, gradients and optimizer_states"));
}
