// A network of one step: what it keeps, and its gradient.
#include "core/base/error.hpp"
#include "core/train/low_rank/decompose.hpp"
#include "core/train/networks/mlp/coded_weights.hpp"
#include "plugins/graph/networks/mesh_graph_net.hpp"
#include "plugins/graph/trajectories/step_sample.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/graph/molecules/molecule_case.hpp"
#include "tests/plugins/graph/steps/made_run.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::graph;
using namespace cambium::graph::testing;

namespace {

struct Buffers {
  std::vector<std::vector<double>> memory;
  std::vector<TensorRef> views;
  explicit Buffers(const train::Network& network) {
    for (const auto& info : network.parameters()) {
      TensorRef t;
      for (auto n : info.shape) t.shape[t.rank++] = n;
      for (std::int64_t stride = 1, k = t.rank - 1; k >= 0; stride *= t.shape[k--]) t.stride[k] = stride;
      memory.emplace_back(static_cast<std::size_t>(t.elements()), 0.0);
      t.data = memory.back().data();
      views.push_back(t);
    }
  }
};

struct Steps : train::Dataset {
  std::vector<train::SamplePtr> samples;
  void open(Context&) override {}
  std::int64_t size() const override { return std::ssize(samples); }
  std::vector<train::FieldInfo> fields() const override { return step_fields(1); }
  std::vector<train::SamplePtr> read(std::span<const std::int64_t> ids) override {
    std::vector<train::SamplePtr> out;
    for (const auto id : ids) out.push_back(samples[id]);
    return out;
  }
};

struct Fitted {
  World world;
  Scratch scratch;
  std::shared_ptr<const Trajectory> run;
  Steps set;
  MeshGraphNet network;
  Buffers weights;

  explicit Fitted(bool places = false, bool disturbed = true, std::vector<std::int64_t> ranks = {})
      : run(std::make_shared<const Trajectory>(made_trajectory(scratch.file("a.h5"), {.n = 4, .growth = 0.1}))),
        network(keys(places, std::move(ranks)), world.context), weights(prepared()) {
    network.initialise(weights.views, 5);
    for (std::size_t k = 0; disturbed && k < weights.memory.size(); ++k)
      for (std::size_t i = 0; i < weights.memory[k].size(); ++i)
        weights.memory[k][i] += 0.2 * std::sin(1.7 * static_cast<double>(i) + static_cast<double>(k));
  }
  std::vector<double> step(std::shared_ptr<const Trajectory> on, const std::vector<double>& value) {
    std::vector<double> out(value.size());
    const std::vector<train::SamplePtr> one{step_sample(0, on, value, {})};
    const TensorRef to = io::tensor_of(out.data(), {1, on->nodes(), 1});
    network.infer(one, weights.views, std::span(&to, 1));
    return out;
  }

 private:
  static MeshGraphNet::Params keys(bool places, std::vector<std::int64_t> ranks) {
    MeshGraphNet::Params p;
    p.layers = 2;
    p.width = 6;
    p.places = places;
    p.ranks = std::move(ranks);
    p.precision = Precision::float64;
    return p;
  }
  const train::Network& prepared() {
    for (std::int64_t m = 0; m + 1 < run->moments(); ++m)
      set.samples.push_back(step_sample(m, run, run->value[m], run->value[m + 1]));
    network.fit_statistics(set, world.context);
    return network;
  }
};

}  // namespace

TEST_CASE("untrained, a network of one step is persistence") {
  Fitted fitted(false, false);
  const auto& value = fitted.run->value[3];
  const auto next = fitted.step(fitted.run, value);
  for (std::size_t k = 0; k < value.size(); ++k) CHECK(next[k] == Approx(value[k]).epsilon(1e-14));
}

TEST_CASE("a step does not know the numbers of nodes and edges, nor, without places, where the mesh lies") {
  const bool places = GENERATE(false, true);
  Fitted fitted(places);
  const auto& value = fitted.run->value[3];
  const auto next = fitted.step(fitted.run, value);
  double moved = 0.0;
  for (std::size_t k = 0; k < value.size(); ++k) moved = std::max(moved, std::abs(next[k] - value[k]));
  CHECK(moved > 1e-3);

  Trajectory turned = *fitted.run;  // nodes in the reverse order, edges in the reverse direction and order
  const auto n = turned.nodes();
  std::vector<double> reversed(value.rbegin(), value.rend());
  for (std::int64_t i = 0; i < n; ++i) {
    for (int k = 0; k < 3; ++k) turned.place[3 * i + k] = fitted.run->place[3 * (n - 1 - i) + k];
    turned.boundary[i] = fitted.run->boundary[n - 1 - i];
  }
  for (std::size_t e = 0; e < turned.edge.size(); ++e)
    turned.edge[turned.edge.size() - 1 - e] = static_cast<std::int32_t>(n - 1 - fitted.run->edge[e]);
  const auto other = fitted.step(std::make_shared<const Trajectory>(turned), reversed);
  for (std::size_t k = 0; k < value.size(); ++k) CHECK(other[value.size() - 1 - k] == Approx(next[k]).epsilon(1e-11));

  Trajectory shifted = *fitted.run;
  for (auto& x : shifted.place) x += 7.0;
  const auto away = fitted.step(std::make_shared<const Trajectory>(shifted), value);
  double changed = 0.0;
  for (std::size_t k = 0; k < value.size(); ++k) changed = std::max(changed, std::abs(away[k] - next[k]));
  CHECK((changed < 1e-11) == !places);
}

TEST_CASE("gradient of one step, and a batch as the sum of its samples") {
  Fitted fitted(true);
  const std::vector<train::SamplePtr> samples(fitted.set.samples.begin(), fitted.set.samples.begin() + 3);
  const std::vector<double> one{1.0};
  Buffers gradients(fitted.network), unused(fitted.network);
  const auto loss = [&](std::span<const train::SamplePtr> of, Buffers& into) {
    std::vector<train::TermSum> terms(1);
    fitted.network.gradient(of, fitted.weights.views, one, into.views, terms, {});
    return terms[0].sum;
  };
  const double whole = loss(samples, gradients);
  double sum = 0.0;
  for (const auto& sample : samples) sum += loss(std::span(&sample, 1), unused);
  CHECK(whole == Approx(sum).epsilon(1e-12));
  const auto infos = fitted.network.parameters();
  for (std::size_t k = 0; k < infos.size(); ++k) {
    CAPTURE(infos[k].name);
    auto& w = fitted.weights.memory[k];
    const std::size_t i = w.size() / 2;
    const double h = 1e-6, before = w[i];
    w[i] = before + h;
    const double up = loss(samples, unused);
    w[i] = before - h;
    const double down = loss(samples, unused);
    w[i] = before;
    CHECK(gradients.memory[k][i] == Approx((up - down) / (2.0 * h)).epsilon(1e-5).margin(1e-6));
  }
}

TEST_CASE("exchanges that are computed again give the same gradient") {
  const auto slope = [](bool again) {
    Fitted fitted;
    if (again) fitted.network.use_activations({.keep = train::ActivationParams::Keep::recomputed});
    Buffers gradient(fitted.network);
    std::vector<train::TermSum> terms(1);
    const double one = 1.0;
    fitted.network.gradient(fitted.set.samples, fitted.weights.views, std::span(&one, 1), gradient.views, terms, {});
    return gradient.memory;
  };
  const auto whole = slope(false), again = slope(true);
  for (std::size_t k = 0; k < whole.size(); ++k)
    for (std::size_t i = 0; i < whole[k].size(); ++i)
      CHECK(again[k][i] == Approx(whole[k][i]).epsilon(1e-11).margin(1e-13));
}

namespace {

/// Weights of a network as the training layer holds them.
train::FlatBuffer flat(const train::Network& network, const train::FlatLayout& layout, const Buffers* from = nullptr) {
  train::FlatBuffer out(layout, network.dtype());
  for (std::size_t k = 0; from && k < from->memory.size(); ++k)
    std::copy(from->memory[k].begin(), from->memory[k].end(), out.values<double>(k).begin());
  return out;
}

/// The greatest difference of a step of a network with these ranks from one of the whole network that it comes from.
double difference(std::vector<std::int64_t> ranks) {
  Fitted whole, factors(false, false, std::move(ranks));
  const train::FlatLayout layout(whole.network.parameters(), 1000), own(factors.network.parameters(), 1000);
  auto weights = flat(whole.network, layout, &whole.weights), products = flat(factors.network, own);
  train::fill_factors(whole.network.factor_layers(), weights, factors.network.factor_layers(), products);
  for (std::size_t k = 0; k < factors.weights.memory.size(); ++k)
    std::copy_n(products.values<double>(k).begin(), factors.weights.memory[k].size(),
                factors.weights.memory[k].begin());
  const auto& value = whole.run->value[3];
  const auto right = whole.step(whole.run, value), found = factors.step(whole.run, value);
  double most = 0.0;
  for (std::size_t k = 0; k < value.size(); ++k) most = std::max(most, std::abs(found[k] - right[k]));
  return most;
}

}  // namespace

TEST_CASE("products of full rank make the steps of the whole network, smaller ones others") {
  const std::vector<std::int64_t> none(14, 0), full{2, 6, 5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 1};
  CHECK(difference(none) == 0.0);
  CHECK(difference(full) < 1e-13);
  auto less = full;
  less[4] = 2;
  CHECK(difference(less) > 1e-4);
}

TEST_CASE("weights of few bits are refused: products with so many rows are slower by tables", "[messages]") {
  World world;
  MeshGraphNet::Params keys;
  keys.width = 64;
  MeshGraphNet network(keys, world.context);
  const train::FlatLayout layout(network.parameters(), 1000);
  train::FlatBuffer weights(layout, network.dtype());
  std::string text;
  try {
    train::CodedWeights(train::QuantizeParams{}, network, weights.views());
  } catch (const InputError& error) {
    text = error.what();
  }
  CHECK(text ==
        "quantize found no linear layer of at least 32 inputs and 16 outputs in this model; remove quantize (it is for "
        "larger models of type mlp, transformer and deep_potential)");
}

TEST_CASE("layers that can be products know their rows, and untrained products are persistence") {
  Fitted fitted(false, false, {2, 3, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 1});
  const auto layers = fitted.network.factor_layers();
  REQUIRE(layers.size() == 14);
  CHECK(layers[0].name == "node_encoder.in");
  CHECK(layers[4].name == "exchanges.0.edge_update.in");
  CHECK(layers[13].name == "decoder.out");
  CHECK(layers[0].places == fitted.run->nodes());
  CHECK(layers[4].places == std::ssize(fitted.run->edge));
  CHECK(layers[4].multiplications(3) == std::ssize(fitted.run->edge) * 3 * (18 + 6));
  const auto next = fitted.step(fitted.run, fitted.run->value[3]);
  for (std::size_t k = 0; k < next.size(); ++k) CHECK(next[k] == Approx(fitted.run->value[3][k]).epsilon(1e-14));
}
