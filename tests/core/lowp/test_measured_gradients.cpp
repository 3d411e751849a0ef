// Gradients of networks in training, not made ones. Many of their tails lie between groups of 128, where each group's
// own scale meets them; where they lie within groups, the randomised Hadamard transform halves the error.
#include <cmath>
#include <iostream>

#include "core/train/data/expression_set.hpp"
#include "core/train/kinds/buffer.hpp"
#include "core/train/networks/mlp/mlp.hpp"
#include "core/train/optimizers/adam.hpp"
#include "plugins/sequence/datasets/synthetic_grammar.hpp"
#include "plugins/sequence/networks/transformer.hpp"
#include "tests/catch.hpp"
#include "tests/gradient_tails.hpp"

using namespace cambium;
using namespace cambium::test;
using namespace cambium::sequence;
using namespace cambium::train;

namespace {

/// Gradient of one batch of 32 after `steps` steps of plain descent, without padding.
std::vector<float> gradient_after(int steps, Mlp::Activation activation) {
  Comm comm{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Context context{comm, log, timing};
  ExpressionSet::Params set;
  set.samples = 2048;
  set.box = {{"x", {-1.0, 1.0}}, {"y", {-1.0, 1.0}}};
  set.target = {{"u", "exp(-40*(x*x + y*y)) + 0.3*tanh(20*(x - y))"}};
  ExpressionSet data(set, context);
  Mlp::Params p;
  p.layers = {128, 128};
  p.activation = activation;
  Mlp net(p, context);
  net.fit_statistics(data, context);
  const FlatLayout layout(net.parameters(), 1 << 20);
  FlatBuffer weights(layout, DType::f32), gradients(layout, DType::f32);
  net.initialise(weights.views(), 5);
  const double one[1] = {1.0};
  for (int step = 0; step <= steps; ++step) {
    std::vector<std::int64_t> ids;
    for (int k = 0; k < 32; ++k) ids.push_back((32 * step + k) * 7 % 2048);
    gradients.zero();
    TermSum term[1];
    net.gradient(data.read(ids), weights.views(), one, gradients.views(), term, [](int) {});
    for (std::size_t k = 0; step < steps && k < weights.values<float>().size(); ++k)
      weights.values<float>()[k] -= 3e-4f * gradients.values<float>()[k];
  }
  auto all = packed<float>(gradients);
  all.resize(all.size() / 128 * 128);
  return all;
}

double mean_kurtosis_of_groups(const std::vector<float>& x) {
  double sum = 0, groups = 0;
  for (std::size_t k = 0; k < x.size(); k += 128) {
    const double found = kurtosis(std::span(x).subspan(k, 128));
    sum += found;
    groups += found > 0;  // zeros throughout: a neuron that no sample of the batch reaches
  }
  return sum / groups;
}

}  // namespace

TEST_CASE(
    "4-bit gradients of a network in training: the randomised Hadamard transform leaves no more than the error of "
    "normal numbers") {
  for (auto activation : {Mlp::Activation::relu, Mlp::Activation::tanh, Mlp::Activation::gelu})
    for (int steps : {0, 1000}) {
      const auto g = gradient_after(steps, activation);
      const double all = kurtosis(g), within = mean_kurtosis_of_groups(g);
      const double plain = error_of_4_bits(g, Transform::none), transformed = error_of_4_bits(g, Transform::randomised);
      INFO("activation " << static_cast<int>(activation) << ", " << steps << " steps: kurtosis " << all
                         << ", within groups " << within << "; error " << plain << ", transformed " << transformed);
      CHECK(all > 30);
      CHECK(within < 0.3 * all);
      CHECK(transformed < 0.18);  // of normal numbers: 0.166
      if (steps > 0 && activation == Mlp::Activation::tanh) CHECK(transformed < 0.9 * plain);
      CHECK(plain < 0.3);
    }
}

namespace {

struct TensorGradient {
  std::string name;
  std::vector<float> numbers;
};

/// Gradients of every matrix of a transformer after some steps of Adam on texts of the made language, 8 texts of 64
/// bytes each.
std::vector<TensorGradient> transformer_gradients(int steps, int width, std::uint64_t seed = 5) {
  Comm comm{MPI_COMM_SELF};
  Log log;
  Timing timing;
  Context context{comm, log, timing};
  SyntheticGrammar::Params set;
  set.samples = 4096;
  SyntheticGrammar data(set, context);
  Transformer::Params p;
  p.width = width;
  Transformer net(p, context);
  net.fit_statistics(data, context);
  const FlatLayout layout(net.parameters(), 1 << 22);
  FlatBuffer weights(layout, DType::f32), gradients(layout, DType::f32);
  net.initialise(weights.views(), seed);
  AdamW adam({}, context);
  auto states = make_states(adam, layout, DType::f32);
  const double one[1] = {1.0};
  for (int step = 0; step <= steps; ++step) {
    std::vector<std::int64_t> ids;
    for (int k = 0; k < 8; ++k) ids.push_back((8 * step + k) % 4096);
    gradients.zero();
    TermSum term[1];
    net.gradient(data.read(ids), weights.views(), one, gradients.views(), term, [](int) {});
    if (step < steps) adam.step({weights, gradients, states, 2e-3, step + 1});
  }
  std::vector<TensorGradient> out;
  for (std::size_t k = 0; k < layout.tensors().size(); ++k) {
    if (layout.tensors()[k].info.shape.size() < 2) continue;
    const auto values = gradients.values<float>(k);
    out.push_back({layout.tensors()[k].info.name, {values.begin(), values.begin() + std::ssize(values) / 128 * 128}});
  }
  return out;
}

}  // namespace

TEST_CASE("4-bit gradients of a transformer in training: where the Hadamard transform gains") {
  double embedding = 0.0;
  for (const auto& [name, g] : transformer_gradients(10, 32)) {
    const double gain = error_of_4_bits(g, Transform::none) / error_of_4_bits(g, Transform::randomised);
    INFO(name << ": kurtosis " << kurtosis(g) << ", within groups " << mean_kurtosis_of_groups(g) << ", gain " << gain);
    CHECK(gain > 0.8);
    CHECK(gain < 4.0);
    if (name == "embedding.byte") embedding = kurtosis(g);
  }
  CHECK(embedding > 30);  // most bytes do not occur
}

TEST_CASE("4-bit gradients of a transformer in training: the error of heavy-tailed ones is halved") {
  int heavy = 0;
  for (const auto& [name, g] : transformer_gradients(0, 128)) {
    if (weighted_kurtosis_of_groups(g) <= heavy_tail) continue;
    ++heavy;
    INFO(name);
    const double plain = error_of_4_bits(g, Transform::none, 4);
    CHECK(error_of_4_bits(g, Transform::randomised, 4) < 0.5 * plain);
    CHECK(error_of_4_bits(g, Transform::of_32, 4) >
          0.5 * plain);  // the columns of bytes that occur lie in one block of 32
  }
  CHECK(heavy >= 1);
}

// For docs/measured/low_precision_gradients.json: tail of each gradient and its error of 4 bits without and with the
// transform.
TEST_CASE("4-bit gradients of a transformer: table", "[.table]") {
  for (int seed : {5, 6, 7})
    for (int steps : {0, 10, 100, 300})
      for (const auto& [name, g] : transformer_gradients(steps, 128, static_cast<std::uint64_t>(seed)))
        write_tail(std::cout, "transformer", seed, steps, name, g);
}
