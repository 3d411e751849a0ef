// Weights kept in few bits: what is held, that rounding is without bias and repeats, and that nearest rounding freezes.
#include <cmath>

#include "core/base/error.hpp"
#include "core/train/networks/mlp/mlp.hpp"
#include "core/train/optimizers/adam.hpp"
#include "core/train/optimizers/sgd.hpp"
#include "core/train/weights/direct_tensors.hpp"
#include "tests/catch.hpp"
#include "tests/train/buffers.hpp"
#include "tests/train/world.hpp"

using namespace cambium;
using namespace cambium::train;
using namespace cambium::train::testing;

namespace {

/// Two layers of 64 x 32 and 32 x 16, as a network that says so and computes nothing.
class Two : public Mlp {
 public:
  explicit Two(World& world) : Mlp({}, world.context) {}
  std::vector<ParameterInfo> parameters() const override {
    return {{"a.w", {64, 32}, true, true}, {"a.b", {32}, false}, {"b.w", {32, 16}, true, true}, {"b.b", {16}, false}};
  }
  std::vector<int> modules() const override { return {0, 2}; }
};

std::vector<float> weights_of(const DirectTensors& direct, const FlatLayout& layout) {
  FlatBuffer whole(layout, DType::f32);
  direct.copy_to(whole);
  return packed<float>(whole);
}

DirectParams params(DirectParams::Weights weights,
                    DirectParams::Rounding rounding = DirectParams::Rounding::stochastic) {
  DirectParams p;
  p.weights = weights;
  p.rounding = rounding;
  return p;
}

}  // namespace

TEST_CASE(
    "packed numbers are those of the grid; rounding at random is without bias, the same for one address, cut at the "
    "ends") {
  for (int limit : {1, 127}) {
    const Grid grid{limit, 0.5f};
    const std::size_t n = 40001;
    std::vector<std::byte> packed(grid.bytes(static_cast<std::int64_t>(n)));
    CHECK(packed.size() == (limit == 1 ? 10001u : n));
    std::vector<float> values(n, 0.11f), found(n);
    round_onto_grid(grid, values, {1, 2, 3, 0}, false, packed);
    unpack_grid(grid, packed, found);
    double sum = 0.0;
    for (float x : found) {
      REQUIRE((x == 0.0f || x == 0.5f));
      sum += static_cast<double>(x);
    }
    const double deviation = 0.5 * std::sqrt(0.22 * 0.78 / static_cast<double>(n));
    CHECK(sum / static_cast<double>(n) == Approx(0.11).margin(4.0 * deviation));
    const auto before = packed;
    CHECK(round_onto_grid(grid, values, {1, 2, 3, 0}, false, packed) == 0);
    CHECK(packed == before);
    CHECK(round_onto_grid(grid, values, {1, 2, 4, 0}, false, packed) > 1000);
    std::fill(values.begin(), values.end(), -1e9f);
    round_onto_grid(grid, values, {1, 2, 5, 0}, false, packed);
    unpack_grid(grid, packed, found);
    CHECK(found[7] == -0.5f * static_cast<float>(limit));
    std::fill(values.begin(), values.end(), 0.24f);
    round_onto_grid(grid, values, {1, 2, 6, 0}, true, packed);
    unpack_grid(grid, packed, found);
    CHECK(found[40000] == 0.0f);
  }
}

TEST_CASE("no copy in full: what is held is bits by parameters, windows come and go") {
  World world;
  Two network(world);
  AdamW adam({}, world.context);
  const FlatLayout layout(network.parameters(), 100000);
  FlatBuffer first(layout, DType::f32), gradients(layout, DType::f32);
  fill(first, 5, 0.1);
  for (auto weights : {DirectParams::Weights::int8, DirectParams::Weights::ternary}) {
    DirectTensors direct(params(weights), network, adam, layout, 9);
    direct.start(first);
    auto states = make_states(adam, layout, DType::f32);
    const std::int64_t linear = 64 * 32 + 32 * 16,
                       held = (weights == DirectParams::Weights::int8 ? linear : linear / 4) + 4 * 48;
    CHECK(direct.memory().now(Held::weights) == held);
    for (int step = 1; step <= 3; ++step) {
      fill(gradients, static_cast<std::uint64_t>(step));
      direct.open(0);
      direct.close(0);
      CHECK(direct.step(adam, gradients, states, 1e-3, step) > 1e-3);
    }
    CHECK(direct.memory().now(Held::weights) == held);
    CHECK(direct.memory().now(Held::windows) == 0);
    CHECK(direct.memory().now(Held::copies) == 0);
    CHECK(direct.memory().peak(Held::windows) == 4 * 64 * 32);  // one matrix
    CHECK(direct.views()[0].data == nullptr);
    CHECK(direct.views()[1].data != nullptr);
  }
}

TEST_CASE("weights stay on their grids, move by the gradient in the mean, repeat, and go through files") {
  World world;
  Two network(world);
  Sgd sgd({}, world.context);
  const FlatLayout layout(network.parameters(), 100000);
  FlatBuffer first(layout, DType::f32), gradients(layout, DType::f32);
  fill(first, 5, 0.1);
  for (float& g : gradients.values<float>()) g = 1.0f;
  DirectTensors direct(params(DirectParams::Weights::int8), network, sgd, layout, 9),
      again(params(DirectParams::Weights::int8), network, sgd, layout, 9);
  direct.start(first);
  again.start(first);
  const auto before = weights_of(direct, layout);
  std::vector<FlatBuffer> none;
  for (int step = 1; step <= 50; ++step) direct.step(sgd, gradients, none, 1e-3, step);
  const auto after = weights_of(direct, layout);
  double moved = 0.0;
  const auto steps = direct.steps();
  for (std::size_t k = 0; k < 64 * 32; ++k) {
    moved += static_cast<double>(after[k] - before[k]) / (64 * 32);
    const double on_grid = static_cast<double>(after[k]) / steps[0];
    REQUIRE(std::abs(on_grid - std::nearbyint(on_grid)) < 1e-4);
  }
  CHECK(moved == Approx(-0.05).margin(4 * steps[0] * std::sqrt(50 * 0.25 / (64 * 32))));
  CHECK(after[64 * 32] == Approx(before[64 * 32] - 0.05f).margin(1e-5));  // a bias
  // Half of the way, then through a copy and its steps.
  for (int step = 1; step <= 25; ++step) again.step(sgd, gradients, none, 1e-3, step);
  FlatBuffer whole(layout, DType::f32);
  again.copy_to(whole);
  DirectTensors other(params(DirectParams::Weights::int8), network, sgd, layout, 9);
  other.take(whole, again.steps());
  for (int step = 26; step <= 50; ++step) other.step(sgd, gradients, none, 1e-3, step);
  CHECK(weights_of(other, layout) == after);
  other.keep_best();
  other.step(sgd, gradients, none, 1e-1, 51);
  CHECK(weights_of(other, layout) != after);
  other.copy_best_to(whole);
  CHECK(packed<float>(whole) == after);
}

TEST_CASE("rounding to the nearest freezes where random rounding goes on") {
  World world;
  Two network(world);
  Sgd sgd({}, world.context);
  const FlatLayout layout(network.parameters(), 100000);
  FlatBuffer first(layout, DType::f32), gradients(layout, DType::f32);
  fill(first, 5, 0.1);
  fill(gradients, 6);
  std::vector<FlatBuffer> none;
  DirectTensors nearest(params(DirectParams::Weights::ternary, DirectParams::Rounding::nearest), network, sgd, layout,
                        9);
  DirectTensors random(params(DirectParams::Weights::ternary), network, sgd, layout, 9);
  nearest.start(first);
  random.start(first);
  for (int step = 1; step <= 5; ++step) {
    CHECK(nearest.step(sgd, gradients, none, 1e-3, step) == 0.0);
    CHECK(random.step(sgd, gradients, none, 1e-3, step) > 1e-3);
  }
}

TEST_CASE("networks without layers of their own are refused") {
  World world;
  class None : public Two {
    using Two::Two;
    std::vector<int> modules() const override { return {}; }
  } network(world);
  Sgd sgd({}, world.context);
  const FlatLayout layout(network.parameters(), 100000);
  CHECK_THROWS_WITH(
      DirectTensors(params(DirectParams::Weights::int8), network, sgd, layout, 9),
      "quantized_training stores the matrices of linear layers at low bit width, but this network names none of its "
      "layers; take mlp, transformer or deep_potential, or remove quantized_training");
}
