// A transformer with ranks: gradients are those of finite differences, and of full rank it is the whole network.
#include <cmath>

#include "core/base/error.hpp"
#include "core/train/low_rank/decompose.hpp"
#include "plugins/sequence/datasets/associative_recall.hpp"
#include "plugins/sequence/networks/transformer.hpp"
#include "tests/catch.hpp"
#include "tests/train/world.hpp"

using namespace cambium;
using namespace cambium::sequence;
using namespace cambium::train;
using cambium::train::testing::World;

namespace {

AssociativeRecall texts(World& world) {
  AssociativeRecall::Params p;
  p.samples = 20;
  p.length = 14;
  p.pairs = 3;
  p.queries = 2;
  p.keys = 5;
  p.values = 4;
  return AssociativeRecall(p, world.context);
}

struct Net {
  World world;
  AssociativeRecall data{texts(world)};
  Transformer network;
  FlatLayout layout;
  FlatBuffer weights;
  std::vector<SamplePtr> samples;

  explicit Net(std::vector<std::int64_t> ranks) : network(keys(std::move(ranks)), world.context), layout(fit(), 1000) {
    weights = FlatBuffer(layout, DType::f64);
    network.initialise(weights.views(), 11);
    for (double& w : weights.values<double>()) w *= w == 1.0 ? 1.1 : 3.0;
    const std::int64_t ids[] = {0, 3, 17};
    samples = data.read(ids);
  }
  static Transformer::Params keys(std::vector<std::int64_t> ranks) {
    Transformer::Params p;
    p.layers = 2;
    p.width = 6;
    p.heads = 2;
    p.expand = 2;
    p.precision = Precision::float64;
    p.ranks = std::move(ranks);
    return p;
  }
  std::vector<ParameterInfo> fit() {
    network.fit_statistics(data, world.context);
    return network.parameters();
  }
  double loss(FlatBuffer& gradients) {
    const double one[] = {1.0};
    TermSum term[1];
    network.gradient(samples, weights.views(), one, gradients.views(), term, [](int) {});
    return term[0].sum;
  }
};

}  // namespace

TEST_CASE("products inside of a transformer have the gradients of finite differences") {
  Net f({2, 0, 3, 1, 0, 4, 0, 5, 3});
  FlatBuffer gradients(f.layout, DType::f64), scratch(f.layout, DType::f64);
  f.loss(gradients);
  CHECK(f.layout.tensors().size() == 2 + 2 * 6 + 2 + 6);
  for (std::size_t k = 0; k < f.layout.tensors().size(); ++k) {
    const auto values = f.weights.values<double>(k);
    double largest = 0.0;
    for (std::size_t i = 0; i<values.size(); i += values.size()> 300 ? 41 : 5) {
      double& w = values[i];
      const double h = 1e-5, kept = w;
      w = kept + h;
      const double up = f.loss(scratch);
      w = kept - h;
      const double down = f.loss(scratch);
      w = kept;
      largest = std::max(largest, std::abs(gradients.values<double>(k)[i]));
      INFO(f.layout.tensors()[k].info.name << " " << i);
      REQUIRE(gradients.values<double>(k)[i] == Approx((up - down) / (2 * h)).epsilon(1e-5).margin(1e-8));
    }
    CHECK(largest > 0.0);
  }
}

TEST_CASE("a transformer's products of full rank are the whole network, smaller ones are not") {
  Net whole({});
  FlatBuffer scratch(whole.layout, DType::f64);
  const double right = whole.loss(scratch);
  for (const auto& ranks : {std::vector<std::int64_t>{6, 6, 6, 6, 6, 6, 6, 6, 6},
                            {0, 6, 0, 6, 6, 0, 6, 0, 0},
                            {0, 0, 0, 0, 0, 0, 0, 0, 0},
                            {0, 0, 0, 0, 2, 0, 0, 0, 0},
                            {0, 0, 0, 0, 0, 0, 0, 0, 2}}) {
    Net net(ranks);
    fill_factors(whole.network.factor_layers(), whole.weights, net.network.factor_layers(), net.weights);
    FlatBuffer own(net.layout, DType::f64);
    const double found = net.loss(own);
    if (ranks[4] == 2 || ranks[8] == 2)
      CHECK(std::abs(found - right) > 1e-3);
    else
      CHECK(found == Approx(right).epsilon(1e-12));
  }
}

TEST_CASE("layers of a transformer have the sizes of its products") {
  Net net({2, 0, 3, 1, 0, 4, 0, 5, 3});
  const auto layers = net.network.factor_layers();
  const auto infos = net.network.parameters();
  REQUIRE(layers.size() == 9);
  CHECK(layers[0].name == "blocks.0.attention.qkv");
  CHECK(layers[1].name == "blocks.0.attention.out");
  CHECK(layers[8].name == "head.w");
  for (const auto& layer : layers) {
    const auto shape = [&](int k) { return infos[k].shape; };
    CHECK(layer.places == 13);
    if (layer.rank == 0) {
      CHECK(shape(layer.core) == std::vector{layer.inputs, layer.outputs});
    } else {
      CHECK(shape(layer.enter) == std::vector{layer.inputs, layer.rank});
      CHECK(shape(layer.leave) == std::vector{layer.rank, layer.outputs});
    }
  }
}
