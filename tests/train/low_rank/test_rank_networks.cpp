// Networks with ranks: gradients are those of finite differences, and of full rank they are the whole network.
#include <cmath>

#include "core/base/error.hpp"
#include "core/train/data/expression_set.hpp"
#include "core/train/low_rank/decompose.hpp"
#include "core/train/networks/mlp/mlp.hpp"
#include "tests/catch.hpp"
#include "tests/train/world.hpp"

using namespace cambium;
using namespace cambium::train;
using cambium::train::testing::World;

namespace {

ExpressionSet waves(World& world) {
  ExpressionSet::Params p;
  p.samples = 40;
  p.box = {{"x", {-1.0, 1.0}}, {"y", {0.0, 2.0}}};
  p.target = {{"u", "sin(3*x)*y"}, {"v", "5 + 10*x*y"}};
  return ExpressionSet(p, world.context);
}

Mlp network_of(World& world, ExpressionSet& data, std::vector<std::int64_t> ranks) {
  Mlp::Params p;
  p.layers = {7, 6};
  p.precision = Precision::float64;
  p.ranks = std::move(ranks);
  Mlp net(p, world.context);
  net.fit_statistics(data, world.context);
  return net;
}

double summed(Mlp& net, std::span<const SamplePtr> samples, FlatBuffer& weights, FlatBuffer& gradients) {
  const double one[1] = {1.0};
  TermSum term[1];
  net.gradient(samples, weights.views(), one, gradients.views(), term, [](int) {});
  return term[0].sum;
}

}  // namespace

TEST_CASE("products inside of a network have the gradients of finite differences") {
  World world;
  auto data = waves(world);
  const std::int64_t ids[] = {0, 3, 4, 17, 31};
  const auto samples = data.read(ids);
  auto net = network_of(world, data, {1, 3, 0});
  const FlatLayout layout(net.parameters(), 1000);
  CHECK(layout.tensors().size() == 10);
  FlatBuffer weights(layout, DType::f64), gradients(layout, DType::f64);
  net.initialise(weights.views(), 11);
  summed(net, samples, weights, gradients);
  for (std::size_t k = 0; k < layout.tensors().size(); ++k)
    for (std::size_t i = 0; i < weights.values<double>(k).size(); i += 2) {
      double& w = weights.values<double>(k)[i];
      const double h = 1e-6, kept = w;
      FlatBuffer scratch(layout, DType::f64);
      w = kept + h;
      const double up = summed(net, samples, weights, scratch);
      w = kept - h;
      const double down = summed(net, samples, weights, scratch);
      w = kept;
      REQUIRE(gradients.values<double>(k)[i] == Approx((up - down) / (2 * h)).epsilon(1e-5).margin(1e-7));
    }
}

TEST_CASE("products of full rank are the whole network, smaller ones are not") {
  World world;
  auto data = waves(world);
  const std::int64_t ids[] = {0, 1, 2, 3, 4, 5, 6, 7};
  const auto samples = data.read(ids);
  auto whole = network_of(world, data, {});
  const FlatLayout layout(whole.parameters(), 1000);
  FlatBuffer weights(layout, DType::f64);
  whole.initialise(weights.views(), 5);
  for (std::size_t k = 1; k < layout.tensors().size(); k += 2)
    for (auto& bias : weights.values<double>(k)) bias = 0.1;
  const auto right = whole.predict(samples, weights.views());
  for (const auto& ranks : {std::vector<std::int64_t>{2, 6, 2}, {0, 6, 0}, {0, 0, 0}, {0, 2, 0}}) {
    auto net = network_of(world, data, ranks);
    const FlatLayout own(net.parameters(), 1000);
    FlatBuffer factors(own, DType::f64);
    fill_factors(whole.factor_layers(), weights, net.factor_layers(), factors);
    const auto found = net.predict(samples, factors.views());
    double most = 0.0;
    for (std::size_t k = 0; k < right.size(); ++k) most = std::max(most, std::abs(found[k] - right[k]));
    if (ranks[1] == 2)
      CHECK(most > 1e-3);
    else
      CHECK(most < 1e-12);
  }
}
