// A Deep Potential whose energy networks have matrices of few bits: energies and forces are those of the model that
// these bits mean.
#include <cmath>

#include "core/train/networks/mlp/coded_weights.hpp"
#include "plugins/deepmd/datasets/deepmd_npy.hpp"
#include "plugins/deepmd/networks/deep_potential.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/deepmd/labelled_water.hpp"

using namespace cambium;
using namespace cambium::deepmd;
using namespace cambium::deepmd::test;

TEST_CASE("a Deep Potential in few bits is the one that these bits mean, its forces with it") {
  Comm comm;
  Log log;
  Timing timing;
  Context context{comm, log, timing};
  const Scratch scratch("deepmd_few_bits");
  DeepmdNpy data({{write_water(scratch)}}, context);
  data.open(context);
  DeepPotentialNetwork::Params p;
  p.rcut = 5.0;
  p.neuron = {6, 12};
  p.axis_neuron = 4;
  p.fitting = {40, 40};
  p.precision = DType::f32;
  DeepPotentialNetwork network(p, context), meant(p, context);
  network.fit_statistics(data, context);
  meant.fit_statistics(data, context);
  FlatWeights<float> weights(network.shape()), dense(network.shape());
  const auto infos = network.parameters();
  // Quantizing wants the shapes.
  for (auto* flat : {&weights, &dense})
    for (std::size_t k = 0; k < infos.size(); ++k) {
      auto& ref = flat->refs[k];
      ref.rank = static_cast<int>(infos[k].shape.size());
      for (int axis = ref.rank; axis-- > 0;) {
        ref.shape[axis] = infos[k].shape[axis];
        ref.stride[axis] = axis + 1 == ref.rank ? 1 : ref.shape[axis + 1] * ref.stride[axis + 1];
      }
    }
  network.initialise(weights.refs, 5);
  meant.initialise(dense.refs, 5);
  const std::int64_t ids[] = {0, 1, 2};
  const auto samples = data.read(ids);
  const auto errors = [&](DeepPotentialNetwork& n, FlatWeights<float>& w) {
    std::vector<train::TermSum> sums(2);
    n.evaluate(samples, w.refs, sums);
    return std::array{std::sqrt(sums[0].sum / sums[0].count), std::sqrt(sums[1].sum / sums[1].count)};
  };
  const auto full = errors(network, weights);
  for (const auto kind : {train::QuantizeParams::Weights::binary, train::QuantizeParams::Weights::ternary}) {
    const train::CodedWeights coded({kind, 2}, network, weights.refs);
    REQUIRE(coded.matrices() == 4);  // two hidden layers of two species; embeddings stay
    const std::int64_t before = coded.bytes();
    network.use_coded(coded);
    for (std::size_t k = 0; k < infos.size(); ++k) {
      if (!infos[k].linear || infos[k].shape[1] < 16) continue;
      const auto matrix = coded.matrix(static_cast<int>(k)).dense();
      const auto in = static_cast<std::size_t>(infos[k].shape[0]), out = static_cast<std::size_t>(infos[k].shape[1]);
      for (std::size_t i = 0; i < in; ++i)
        for (std::size_t o = 0; o < out; ++o) dense.values[k][i * out + o] = matrix[o * in + i];
    }
    const auto few = errors(network, weights), same = errors(meant, dense);
    INFO("force " << full[0] << ' ' << few[0] << ' ' << same[0] << ", energy " << full[1] << ' ' << few[1] << ' '
                  << same[1]);
    CHECK(few[0] == Approx(same[0]).epsilon(1e-5));
    CHECK(few[1] == Approx(same[1]).epsilon(1e-5));
    CHECK(std::abs(few[0] / full[0] - 1.0) > 1e-3);
    CHECK(coded.bytes() > before);  // forces made it keep the signs by columns, too
  }
}
