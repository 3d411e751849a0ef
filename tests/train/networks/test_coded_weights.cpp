// A trained network whose matrices are in few bits, against the same network with the matrices that these bits mean.
#include <array>
#include <cmath>

#include "core/base/error.hpp"
#include "core/train/data/expression_set.hpp"
#include "core/train/kinds/buffer.hpp"
#include "core/train/networks/mlp/coded_weights.hpp"
#include "core/train/networks/mlp/mlp.hpp"
#include "core/train/run/evaluate.hpp"
#include "plugins/sequence/datasets/synthetic_grammar.hpp"
#include "plugins/sequence/networks/transformer.hpp"
#include "tests/catch.hpp"
#include "tests/train/world.hpp"

using namespace cambium;
using namespace cambium::sequence;
using namespace cambium::train;
using cambium::train::testing::World;

namespace {

QuantizeParams in_bits(int bits) {
  if (bits == 0) return {QuantizeParams::Weights::ternary, 0};
  return {QuantizeParams::Weights::binary, bits};
}

double error_of(Network& network, std::span<const SamplePtr> samples, FlatBuffer& weights) {
  std::vector<TermSum> sums(network.metrics().size());
  network.evaluate(samples, weights.views(), sums);
  return sums[0].sum / sums[0].count;
}

/// Few bits by their kernels, by plain matrices in their place, and full weights: errors of all three.
struct Errors {
  double coded, plain, full;
  std::int64_t matrices, numbers, bytes;
};

template <class N>
Errors errors_of(const typename N::Params& params, Dataset& data, World& world, int bits) {
  N network(params, world.context), other(params, world.context);
  network.fit_statistics(data, world.context);
  other.fit_statistics(data, world.context);
  const FlatLayout layout(network.parameters(), 100000);
  FlatBuffer weights(layout, DType::f32), meant(layout, DType::f32);
  network.initialise(weights.views(), 11);
  other.initialise(meant.views(), 11);
  const std::int64_t ids[] = {0, 3, 4, 9, 17};
  const auto samples = data.read(ids);
  Errors out{};
  out.full = error_of(network, samples, weights);
  const CodedWeights coded(in_bits(bits), network, weights.views());
  out.matrices = coded.matrices();
  out.numbers = coded.numbers();
  out.bytes = coded.bytes();
  network.use_coded(coded);
  out.coded = error_of(network, samples, weights);
  const auto infos = other.parameters();
  for (std::size_t k = 0; k < infos.size(); ++k) {
    if (!infos[k].linear || infos[k].shape[0] < 32 || infos[k].shape[1] < 16) continue;
    const auto dense = coded.matrix(static_cast<int>(k)).dense();
    const auto values = meant.values<float>(k);
    const auto inputs = static_cast<std::size_t>(infos[k].shape[0]),
               outputs = static_cast<std::size_t>(infos[k].shape[1]);
    for (std::size_t i = 0; i < inputs; ++i)
      for (std::size_t o = 0; o < outputs; ++o) values[i * outputs + o] = dense[o * inputs + i];
  }
  out.plain = error_of(other, samples, meant);
  return out;
}

ExpressionSet made(World& world) {
  ExpressionSet::Params p;
  p.samples = 50;
  p.box = {{"x", {-1.0, 1.0}}, {"y", {0.0, 2.0}}};
  p.target = {{"u", "sin(3*x)*y"}};
  return ExpressionSet(p, world.context);
}

}  // namespace

TEST_CASE("a fully connected network in few bits is the network that these bits mean") {
  World world;
  auto data = made(world);
  Mlp::Params p;
  p.layers = {40, 72, 20};
  for (const int bits : {0, 1, 2, 3, 4}) {
    const auto found = errors_of<Mlp>(p, data, world, bits);
    INFO(bits << " bits: " << found.coded << ", plainly " << found.plain << ", full " << found.full);
    CHECK(found.coded == Approx(found.plain).epsilon(1e-5));
    if (bits < 4) CHECK(std::abs(found.coded - found.full) > 1e-4 * found.full);  // four bits come nearer than that
    // The layers of 2 inputs and of 1 output stay; rows are padded to 16, columns to 32, scales of 4 bytes a row.
    CHECK(found.matrices == 2);
    CHECK(found.numbers == 40 * 72 + 72 * 20);
    CHECK(found.bytes == (bits == 0 ? 2 : bits) * (80 * 64 / 8 + 32 * 96 / 8 + 4 * (80 + 32)));
  }
}

TEST_CASE("a transformer in few bits is the transformer that these bits mean, and comes nearer with each bit") {
  World world;
  SyntheticGrammar::Params g;
  g.samples = 20;
  g.length = 12;
  g.classes = 3;
  g.words = 4;
  SyntheticGrammar data(g, world.context);
  Transformer::Params p;
  p.layers = 2;
  p.width = 32;
  p.heads = 2;
  p.expand = 2;
  double before = 1e9;
  for (const int bits : {1, 2, 3, 4}) {
    const auto found = errors_of<Transformer>(p, data, world, bits);
    INFO(bits << " bits: " << found.coded << ", plainly " << found.plain << ", full " << found.full);
    CHECK(found.coded == Approx(found.plain).epsilon(1e-5));
    CHECK(found.matrices == 8);
    CHECK(found.numbers == 2 * 32 * (96 + 32 + 64 + 64));
    if (bits == 1 || bits == 4) {
      CHECK(std::abs(found.coded - found.full) < before);
      before = std::abs(found.coded - found.full);
    }
  }
  CHECK(errors_of<Transformer>(p, data, world, 0).coded ==
        Approx(errors_of<Transformer>(p, data, world, 0).plain).epsilon(1e-5));
}

TEST_CASE("a transformer trained with ternary products loses nothing by ternary weights") {
  World world;
  SyntheticGrammar::Params g;
  g.samples = 20;
  g.length = 12;
  g.classes = 3;
  g.words = 4;
  SyntheticGrammar data(g, world.context);
  Transformer::Params p;
  p.layers = 2;
  p.width = 32;
  p.heads = 2;
  p.expand = 2;
  p.linear.weights = Transformer::LinearWeights::ternary;
  const auto found = errors_of<Transformer>(p, data, world, 0);
  CHECK(found.coded == Approx(found.full).epsilon(1e-5));
}

namespace {

/// Root mean square difference of outputs to those in full, and the largest difference of their means.
std::array<double, 2> off_by(const std::vector<double>& found, const std::vector<double>& full, std::size_t outputs) {
  double square = 0.0;
  std::vector<double> mean(outputs, 0.0);
  for (std::size_t k = 0; k < full.size(); ++k) {
    square += std::pow(found[k] - full[k], 2) / static_cast<double>(full.size());
    mean[k % outputs] += (found[k] - full[k]) * static_cast<double>(outputs) / static_cast<double>(full.size());
  }
  double largest = 0.0;
  for (double m : mean) largest = std::max(largest, std::abs(m));
  return {std::sqrt(square), largest};
}

}  // namespace

TEST_CASE("calibration brings a fully connected network nearer to itself in full and keeps the means of its outputs") {
  World world;
  auto data = made(world);
  Mlp::Params p;
  p.layers = {40, 72, 20};
  Mlp network(p, world.context);
  network.fit_statistics(data, world.context);
  const FlatLayout layout(network.parameters(), 100000);
  FlatBuffer weights(layout, DType::f32);
  network.initialise(weights.views(), 11);
  std::vector<std::int64_t> ids(50);
  for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = static_cast<std::int64_t>(k);
  const auto samples = data.read(ids);
  const auto outputs = [&] {
    std::vector<double> values(samples.size());
    TensorRef out;
    out.data = values.data();
    out.dtype = DType::f64;
    out.rank = 2;
    out.shape[0] = static_cast<std::int64_t>(samples.size());
    out.shape[1] = 1;
    out.stride[0] = out.stride[1] = 1;
    network.infer(samples, weights.views(), std::array{out});
    return values;
  };
  const auto full = outputs();
  for (const int bits : {0, 1, 2, 3}) {
    const CodedWeights plain(in_bits(bits), network, weights.views());
    network.use_coded(plain);
    const auto before = off_by(outputs(), full, 1);
    CodedWeights fitted(in_bits(bits), network, weights.views());
    const std::int64_t bytes = fitted.bytes();
    fitted.calibrate(network, weights.views(), samples);
    const auto after = off_by(outputs(), full, 1);
    INFO(bits << " bits: rms " << before[0] << ' ' << after[0] << ", means " << before[1] << ' ' << after[1]);
    CHECK(after[0] < 0.5 * before[0]);
    CHECK(after[1] < 1e-5);
    CHECK(fitted.bytes() == bytes + 4 * (40 + 72 + 20 + 1));
  }
}

TEST_CASE("calibration of a transformer: means of all coded products are those in full, one layer after the other") {
  World world;
  SyntheticGrammar::Params g;
  g.samples = 20;
  g.length = 12;
  g.classes = 3;
  g.words = 4;
  SyntheticGrammar data(g, world.context);
  Transformer::Params p;
  p.layers = 2;
  p.width = 32;
  p.heads = 2;
  p.expand = 2;
  Transformer network(p, world.context);
  network.fit_statistics(data, world.context);
  const FlatLayout layout(network.parameters(), 100000);
  FlatBuffer weights(layout, DType::f32);
  network.initialise(weights.views(), 11);
  std::vector<std::int64_t> ids(20);
  for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = static_cast<std::int64_t>(k);
  const auto samples = data.read(ids);
  const double full = error_of(network, samples, weights);
  for (const int bits : {1, 2}) {
    const CodedWeights plain(in_bits(bits), network, weights.views());
    network.use_coded(plain);
    const double before = error_of(network, samples, weights);
    CodedWeights fitted(in_bits(bits), network, weights.views());
    fitted.calibrate(network, weights.views(), samples);
    const double after = error_of(network, samples, weights);
    INFO(bits << " bits: " << full << ' ' << before << ' ' << after);
    CHECK(std::abs(after - full) < 0.5 * std::abs(before - full));
  }
}

TEST_CASE("where few bits take longer than full weights, that is said", "[messages]") {
  CHECK(slower_with_few_bits(2.0, 1.0, 8).empty());
  CHECK(slower_with_few_bits(2.0, 2.05, 8).empty());
  CHECK(slower_with_few_bits(2.0, 2.8, 1000) ==
        "with low-bit weights a pass takes 1.4 times as long as in full, in batches of 1000: they save memory here, "
        "not time; take fewer bits or smaller batches, or leave 'quantize' out");
}
