// Layers written with Torch as products: of full rank they are the whole layer, over one to three axes.
#include <torch/torch.h>

#include "core/base/error.hpp"
#include "core/train/low_rank/decompose.hpp"
#include "core/train/networks/torch/rank_layers.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::train;

namespace {

/// A module with one layer, its parameters and weights in double precision.
struct One {
  std::shared_ptr<torch::nn::Module> module = std::make_shared<torch::nn::Module>();
  std::shared_ptr<RankLayer> layer;
  std::vector<ParameterInfo> infos;
  std::unique_ptr<FlatLayout> layout;
  FlatBuffer weights;

  One(const RankLayerShape& shape, std::int64_t rank) : layer(std::make_shared<RankLayer>(shape, rank)) {
    module->register_module("layer", layer);
    module->to(torch::kFloat64);
    for (const auto& item : module->named_parameters()) infos.push_back({item.key(), item.value().sizes().vec()});
    layout = std::make_unique<FlatLayout>(infos, 100);
    weights = FlatBuffer(*layout, DType::f64);
  }
  std::vector<FactorLayer> layers() const { return factor_layers_of(*module, infos); }
  void take_weights() {
    const torch::NoGradGuard guard;
    std::size_t k = 0;
    for (auto& p : module->parameters()) {
      const auto values = weights.values<double>(k++);
      p.copy_(torch::tensor(std::vector<double>(values.begin(), values.end()), torch::kFloat64).reshape(p.sizes()));
    }
  }
};

std::vector<std::string> names(const std::vector<ParameterInfo>& infos) {
  std::vector<std::string> out;
  for (const auto& info : infos) out.push_back(info.name);
  return out;
}

}  // namespace

TEST_CASE("a whole layer is Torch's own, and products of full rank are that") {
  torch::manual_seed(3);
  const auto shape = GENERATE(RankLayerShape{5, 7, {}, {}, 1}, RankLayerShape{5, 7, {3}, {1}, 9},
                              RankLayerShape{5, 7, {3, 3}, {1, 1}, 54}, RankLayerShape{7, 5, {3, 3, 3}, {1, 0, 1}, 54},
                              RankLayerShape{6, 4, {1, 1, 1}, {0, 0, 0}, 54});
  One whole(shape, 0);
  CHECK(names(whole.infos) == std::vector<std::string>{"layer.weight", "layer.bias"});
  for (double& w : whole.weights.values<double>()) w = torch::randn({1}, torch::kFloat64).item<double>();
  whole.take_weights();
  std::vector<std::int64_t> extents{2, shape.inputs};
  for (std::size_t a = 0; a < shape.kernel.size(); ++a) extents.push_back(4 + static_cast<std::int64_t>(a));
  const auto x = torch::randn(extents, torch::kFloat64);
  const auto right = whole.layer->forward(x);
  const auto parameters = whole.module->parameters();
  torch::Tensor plain;
  if (shape.kernel.empty()) plain = torch::linear(x, parameters[0], parameters[1]);
  if (shape.kernel.size() == 1) plain = torch::conv1d(x, parameters[0], parameters[1], 1, shape.padding);
  if (shape.kernel.size() == 2) plain = torch::conv2d(x, parameters[0], parameters[1], 1, shape.padding);
  if (shape.kernel.size() == 3) plain = torch::conv3d(x, parameters[0], parameters[1], 1, shape.padding);
  CHECK(torch::equal(right, plain));
  for (const std::int64_t rank : {1, 3, 5, 6, 7}) {
    One product(shape, rank);
    fill_factors(whole.layers(), whole.weights, product.layers(), product.weights);
    product.take_weights();
    const double off = (product.layer->forward(x) - right).abs().max().item<double>();
    INFO("rank " << rank << " of " << shape.inputs << " x " << shape.outputs << ", " << shape.kernel.size() << " axes");
    const bool matrix = whole.layers()[0].taps == 1;
    if (rank >= (matrix ? std::min(shape.inputs, shape.outputs) : std::max(shape.inputs, shape.outputs)))
      CHECK(off < 1e-11);
    else
      CHECK(off > 1e-3);
  }
}

TEST_CASE("products have the multiplications that they say, by the sizes of their parameters") {
  for (const auto& shape : {RankLayerShape{5, 7, {}, {}, 1}, RankLayerShape{5, 7, {3, 3, 3}, {1, 1, 1}, 54}})
    for (const std::int64_t rank : {0, 2, 5, 6}) {
      One made(shape, rank);
      std::int64_t numbers = 0;
      for (const auto& info : made.infos) {
        if (info.name.ends_with("bias")) continue;
        std::int64_t n = 1;
        for (const auto extent : info.shape) n *= extent;
        numbers += n;
      }
      const auto layer = made.layers()[0];
      CHECK(layer.rank == rank);
      CHECK(layer.multiplications(rank) == shape.places * numbers);
    }
}

TEST_CASE("a key with too many ranks, or too few, is refused") {
  const std::vector<std::int64_t> ranks{1, 0};
  for (const int layers : {1, 2, 3}) {
    RankLayers made(ranks);
    for (int k = 0; k < layers; ++k) made.linear(3, 3);
    if (layers == 2)
      CHECK_NOTHROW(made.require_all());
    else
      CHECK_THROWS_AS(made.require_all(), InputError);
  }
  RankLayers none({});
  none.linear(3, 3);
  CHECK_NOTHROW(none.require_all());
}
