// The gradient is the derivative of the loss, checked by central differences for every parameter. Nothing here knows
// the formula: another basis, with other tensors, is held by the same tests.
#include <cmath>
#include <optional>

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#include "core/train/data/expression_set.hpp"
#include "core/train/kinds/buffer.hpp"
#include "my_network.hpp"

using namespace cambium;
using cambium::my_network::MyNetwork;

namespace {

struct World {
  Comm comm;
  Log log;
  Timing timing;
  Context context{comm, log, timing};
};

/// A small data set, the network that has seen it, and its weights.
struct Fixture {
  World world;
  train::ExpressionSet set{
      {.samples = 9, .box = {{"x", {-1.0, 1.0}}, {"y", {0.0, 2.0}}}, .target = {{"z", "3 + sin(3*x)*y"}}},
      world.context};
  MyNetwork network{{.units = 5}, world.context};
  std::vector<train::SamplePtr> samples;
  std::optional<train::FlatLayout> layout;
  train::FlatBuffer weights, gradients;

  Fixture() {
    set.open(world.context);
    network.fit_statistics(set, world.context);
    for (const std::int64_t id : {0, 3, 7}) samples.push_back(set.read(std::vector<std::int64_t>{id})[0]);
    layout.emplace(network.parameters(), 4);
    weights = train::FlatBuffer(*layout, DType::f64);
    gradients = train::FlatBuffer(*layout, DType::f64);
    network.initialise(weights.views(), 5);
  }
  double loss() {
    train::FlatBuffer ignored(*layout, DType::f64);
    std::vector<train::TermSum> terms(1);
    network.gradient(samples, weights.views(), std::vector<double>{1.7}, ignored.views(), terms, [](int) {});
    return 1.7 * terms[0].sum;
  }
};

}  // namespace

TEST_CASE("the gradient is the derivative of the loss") {
  Fixture f;
  std::vector<train::TermSum> terms(1);
  std::vector<int> announced;
  f.network.gradient(f.samples, f.weights.views(), std::vector<double>{1.7}, f.gradients.views(), terms,
                     [&](int k) { announced.push_back(k); });
  CHECK(terms[0].count == 3.0);
  CHECK(announced.size() == f.network.parameters().size());
  for (std::size_t tensor = 0; tensor < f.network.parameters().size(); ++tensor)
    for (std::size_t k = 0; k < f.weights.values<double>(tensor).size(); ++k) {
      double& w = f.weights.values<double>(tensor)[k];
      const double kept = w, h = 1e-5;
      w = kept + h;
      const double up = f.loss();
      w = kept - h;
      const double down = f.loss();
      w = kept;
      CHECK(f.gradients.values<double>(tensor)[k] == Approx((up - down) / (2 * h)).epsilon(1e-6).margin(1e-9));
    }
}

TEST_CASE("what was stored predicts the same") {
  Fixture f;
  MyNetwork other({.units = 5}, f.world.context);
  other.restore(f.network.state());
  std::vector<train::TermSum> mine(1), theirs(1);
  f.network.evaluate(f.samples, f.weights.views(), mine);
  other.evaluate(f.samples, f.weights.views(), theirs);
  CHECK(mine[0].sum > 0.0);
  CHECK(mine[0].sum == theirs[0].sum);
}

TEST_CASE("predictions are what the metric evaluates, in the unit of the target") {
  Fixture f;
  double squares = 0.0;
  for (const auto& sample : f.samples) {
    double y = 0.0;
    TensorRef out;
    out.data = &y;
    out.rank = 2;
    out.shape[0] = out.shape[1] = 1;
    out.stride[0] = out.stride[1] = 1;
    out.dtype = DType::f64;
    f.network.infer(std::span(&sample, 1), f.weights.views(), std::span(&out, 1));
    const double target = *static_cast<const double*>(sample->fields.at("target").data);
    squares += (y - target) * (y - target);
  }
  std::vector<train::TermSum> metrics(1);
  f.network.evaluate(f.samples, f.weights.views(), metrics);
  CHECK(squares > 0.0);
  CHECK(metrics[0].sum == Approx(squares).epsilon(1e-12));
}

TEST_CASE("steps against the gradient fit the samples") {
  Fixture f;
  const double before = f.loss();
  for (int step = 0; step < 4000; ++step) {
    std::vector<train::TermSum> terms(1);
    train::FlatBuffer gradients(*f.layout, DType::f64);
    f.network.gradient(f.samples, f.weights.views(), std::vector<double>{1.0}, gradients.views(), terms, [](int) {});
    for (std::size_t tensor = 0; tensor < f.network.parameters().size(); ++tensor)
      for (std::size_t k = 0; k < f.weights.values<double>(tensor).size(); ++k)
        f.weights.values<double>(tensor)[k] -= 0.01 * gradients.values<double>(tensor)[k];
  }
  CHECK(f.loss() < 0.1 * before);
}
