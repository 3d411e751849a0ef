// A transformer whose products round their factors to microscaled formats: weights beside a full network with the
// weights that were rounded before, activations by how far they move the loss.
#include <cmath>

#include "core/lowp/microscaling.hpp"
#include "core/train/kinds/buffer.hpp"
#include "plugins/sequence/datasets/synthetic_grammar.hpp"
#include "plugins/sequence/networks/transformer.hpp"
#include "tests/catch.hpp"
#include "tests/train/world.hpp"

using namespace cambium;
using namespace cambium::sequence;
using namespace cambium::train;
using cambium::train::testing::World;

namespace {

struct Trained {
  Transformer network;
  FlatLayout layout;
  FlatBuffer weights;

  Trained(Transformer::Linear linear, Dataset& data, World& world)
      : network(params(linear), world.context), layout(of(data, world)) {
    weights = FlatBuffer(layout, DType::f32);
    network.initialise(weights.views(), 11);
  }
  static Transformer::Params params(Transformer::Linear linear) {
    Transformer::Params p;
    p.layers = 2;
    p.width = 48;  // a block and a half
    p.heads = 2;
    p.expand = 2;
    p.linear = linear;
    return p;
  }
  FlatLayout of(Dataset& data, World& world) {
    network.fit_statistics(data, world.context);
    return FlatLayout(network.parameters(), 100000);
  }
  double loss(Dataset& data) {
    const std::int64_t ids[] = {0, 3, 4, 9, 17};
    std::vector<TermSum> sums(network.metrics().size());
    network.evaluate(data.read(ids), weights.views(), sums);
    return sums[0].sum / sums[0].count;
  }
};

SyntheticGrammar texts(World& world) {
  SyntheticGrammar::Params g;
  g.samples = 20;
  g.length = 12;
  g.classes = 3;
  g.words = 4;
  return SyntheticGrammar(g, world.context);
}

using Weights = Transformer::LinearWeights;
using Activations = Transformer::Activations;
const std::tuple<Weights, Activations, lowp::Microscaled> formats[] = {
    {Weights::mxfp8_e4m3, Activations::mxfp8_e4m3, lowp::mxfp8_e4m3},
    {Weights::mxfp8_e5m2, Activations::mxfp8_e5m2, lowp::mxfp8_e5m2},
    {Weights::mxfp4, Activations::mxfp4, lowp::mxfp4}};

}  // namespace

TEST_CASE("weights in microscaled formats are those that were rounded along the inputs") {
  World world;
  auto data = texts(world);
  const double exact = Trained({}, data, world).loss(data);
  for (const auto& [weights, activations, format] : formats) {
    Trained found({weights, Activations::full}, data, world), plain({}, data, world);
    for (std::size_t k = 0; k < plain.layout.tensors().size(); ++k) {
      const auto& info = plain.layout.tensors()[k].info;
      if (info.linear) lowp::round_columns_to_blocks<float>(format, plain.weights.values<float>(k), info.shape[1]);
    }
    CHECK(found.loss(data) == plain.loss(data));
    CHECK(found.loss(data) != exact);
  }
}

TEST_CASE("activations in microscaled formats move the loss a little") {
  World world;
  auto data = texts(world);
  const double exact = Trained({}, data, world).loss(data);
  std::vector<double> off;
  for (const auto& [weights, activations, format] : formats)
    off.push_back(std::abs(Trained({Weights::full, activations}, data, world).loss(data) - exact));
  for (const double moved : off) CHECK(moved > 0.0);
  CHECK(off[0] < 1e-3 * exact);
  CHECK(off[1] < 5e-3 * exact);
  CHECK(off[2] < 2e-2 * exact);
}
