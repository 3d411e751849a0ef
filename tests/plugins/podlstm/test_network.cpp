// The search space, and networks against a plain oracle and finite differences.
#include <cmath>
#include <set>

#include "core/deck/describe.hpp"
#include "core/parallel/random.hpp"
#include "core/train/kinds/buffer.hpp"
#include "core/train/low_rank/decompose.hpp"
#include "core/train/low_rank/smaller_network.hpp"
#include "core/train/tune/trial.hpp"
#include "plugins/podlstm/networks/stacked_lstm.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/podlstm/oracle_network.hpp"

using namespace cambium;
using namespace cambium::podlstm;

namespace {

constexpr int past = 4, features = 3, modes = 2;

struct Net {
  StackedLstm net;
  train::FlatLayout layout;
  train::FlatBuffer weights, gradients;
  Net(const Genome& genome, Cell cell, Head head, std::vector<std::int64_t> ranks = {},
      std::vector<std::int64_t> widths = {})
      : net({genome, cell, head, std::move(widths), std::move(ranks)}, past, features, past, modes),
        layout(net.parameters(), 1 << 20), weights(layout, DType::f32), gradients(layout, DType::f32) {
    net.initialise(weights.views(), 7);
    for (std::size_t k = 0; k < layout.tensors().size(); ++k)  // biases, too, so that every path is seen
      for (std::size_t i = 0; float& w : weights.values<float>(k))
        w += 0.2f * static_cast<float>(Random4(5, Stream::test, k, i++).normal(0));
  }
};

std::vector<train::SamplePtr> samples(int n) {
  std::vector<train::SamplePtr> out;
  for (int b = 0; b < n; ++b) {
    auto values = std::make_shared<std::vector<float>>();
    for (int i = 0; i < past * (features + modes); ++i)
      values->push_back(static_cast<float>(
          Random4(9, Stream::test, static_cast<std::uint64_t>(b), static_cast<std::uint64_t>(i)).normal(0)));
    auto s = std::make_shared<train::Sample>();
    s->id = b;
    s->fields["window"] = io::tensor_of(values->data(), {past, features});
    s->fields["target"] = io::tensor_of(values->data() + past * features, {past, modes});
    s->storage = values;
    out.push_back(s);
  }
  return out;
}

const std::vector<Genome> genomes = {
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},  // the head alone
    {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},  // input projected and added
    {1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0},  // added as it is, equal widths
    {2, 1, 1, 1, 1, 0, 1, 0, 2, 0, 1, 1, 1, 1},
    {0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 1},
};

double loss(Net& n, std::span<const train::SamplePtr> s) {
  train::TermSum sum;
  n.net.evaluate(s, n.weights.views(), {&sum, 1});
  return sum.sum;
}

}  // namespace

TEST_CASE("the space has 7^5 2^9 genomes", "[genome]") {
  const GenomeSpace space;
  CHECK(space.decisions() == 14);
  CHECK(space.size() == 8605184);
  int nodes = 0;
  for (int d = 0; d < 14; ++d) nodes += space.is_node(d);
  CHECK(nodes == 5);
}

TEST_CASE("function-equal genomes have one canonical form", "[genome]") {
  const GenomeSpace space;
  auto text = [&](const Genome& g) { return graph_of(space, g, 5).canonical(); };
  const Genome one = {2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, late = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0};
  CHECK(text(one) == text(late));
  CHECK(text(one) != text({3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  CHECK(text({2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}) == text({0, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  CHECK(text({0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}) ==
        text({0, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}));  // both reach the input
  CHECK(text({0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}) !=
        text({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));  // relu(2 x)
}

TEST_CASE("projection only where widths differ, ReLU only with a skip", "[genome]") {
  const GenomeSpace space;
  const Graph plain = graph_of(space, {1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 5);
  CHECK(plain.nodes.size() == 2);
  for (const auto& node : plain.nodes) CHECK(node.kind == GraphNode::Kind::recurrent);
  const Graph equal = graph_of(space, {1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 5);
  REQUIRE(equal.nodes.size() == 3);
  CHECK(!equal.nodes[2].skips[0].projected);
  const Graph differ = graph_of(space, {1, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 5);
  REQUIRE(differ.nodes.size() == 3);
  CHECK(differ.nodes[2].skips[0].value == 0);
  CHECK(differ.nodes[2].skips[0].projected);
}

TEST_CASE("networks compute what their genome says", "[network]") {
  const auto s = samples(5);
  for (Cell cell : {Cell::lstm, Cell::gru})
    for (Head head : {Head::recurrent, Head::dense})
      for (const auto& genome : genomes) {
        INFO(cambium::tune::genome_text(genome)
             << (cell == Cell::gru ? " gru" : " lstm") << (head == Head::dense ? " dense" : " recurrent"));
        Net n(genome, cell, head);
        double expected = 0.0;
        for (const auto& sample : s)
          expected += oracle::mean_square(genome, cell, head, n.weights, *sample, past, features, modes);
        CHECK(loss(n, s) == Approx(expected).epsilon(2e-5));
      }
}

namespace {

/// Gradients against central differences of the float64 oracle, along a random direction of each tensor.
void compare_gradients(Net& n, const Genome& genome, Cell cell, Head head) {
  const auto s = samples(3);
  train::TermSum sum;
  const double one = 1.0;
  std::vector<int> ready;
  n.net.gradient(s, n.weights.views(), {&one, 1}, n.gradients.views(), {&sum, 1}, [&](int k) { ready.push_back(k); });
  CHECK(std::set<int>(ready.begin(), ready.end()).size() == n.layout.tensors().size());
  for (std::size_t k = 0; k < n.layout.tensors().size(); ++k) {
    auto w = n.weights.values<float>(k);
    const auto g = n.gradients.values<float>(k);
    double slope = 0.0;
    std::vector<double> direction(w.size());
    for (std::size_t i = 0; i < w.size(); ++i) {
      direction[i] = Random4(11, Stream::test, i, k).normal(0);
      slope += direction[i] * static_cast<double>(g[i]);
    }
    const double step = 1e-5;
    double difference = 0.0;
    for (const auto& sample : s)
      difference += oracle::mean_square(genome, cell, head, n.weights, *sample, past, features, modes,
                                        static_cast<int>(k), direction, step) -
                    oracle::mean_square(genome, cell, head, n.weights, *sample, past, features, modes,
                                        static_cast<int>(k), direction, -step);
    INFO(n.layout.tensors()[k].info.name);
    CHECK(slope == Approx(difference / (2.0 * step)).epsilon(1e-4).margin(1e-5));
  }
}

/// Every cell and head with every genome, by name.
template <class F>
void for_each_network(F&& f) {
  for (Cell cell : {Cell::lstm, Cell::gru})
    for (Head head : {Head::recurrent, Head::dense})
      for (const auto& genome : genomes) {
        INFO(cambium::tune::genome_text(genome)
             << (cell == Cell::gru ? " gru" : " lstm") << (head == Head::dense ? " dense" : " recurrent"));
        f(genome, cell, head);
      }
}

/// One rank for each matrix of a network: 2, 3 or none.
std::vector<std::int64_t> some_ranks(const StackedLstm& net) {
  std::vector<std::int64_t> out;
  for (std::size_t l = 0; l < net.factor_layers().size(); ++l)
    out.push_back(l % 3 == 2 ? 0 : static_cast<std::int64_t>(2 + l % 3));
  return out;
}

}  // namespace

TEST_CASE("gradients are those of finite differences", "[network]") {
  for_each_network([](const Genome& genome, Cell cell, Head head) {
    Net n(genome, cell, head);
    compare_gradients(n, genome, cell, head);
  });
}

TEST_CASE("networks with factors compute products, with gradients of finite differences", "[network]") {
  const auto s = samples(5);
  for_each_network([&](const Genome& genome, Cell cell, Head head) {
    const Net whole(genome, cell, head);
    Net n(genome, cell, head, some_ranks(whole.net));
    double expected = 0.0;
    for (const auto& sample : s)
      expected += oracle::mean_square(genome, cell, head, n.weights, *sample, past, features, modes);
    CHECK(loss(n, s) == Approx(expected).epsilon(2e-5));
    compare_gradients(n, genome, cell, head);
  });
}

namespace {

/// Largest difference of the outputs of two networks.
double difference(Net& a, Net& b) {
  std::vector<float> windows;
  for (int i = 0; i < 6 * past * features; ++i)
    windows.push_back(static_cast<float>(Random4(13, Stream::test, 0, static_cast<std::uint64_t>(i)).normal(0)));
  const auto x = a.net.predict(windows.data(), 6, a.weights.views()),
             y = b.net.predict(windows.data(), 6, b.weights.views());
  double most = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) most = std::max(most, std::abs(static_cast<double>(x[k]) - y[k]));
  return most;
}

std::vector<std::int64_t> full_ranks(const StackedLstm& net, bool of_inputs) {
  std::vector<std::int64_t> out;
  for (const auto& layer : net.factor_layers())
    out.push_back(of_inputs ? layer.inputs : std::min(layer.inputs, layer.outputs));
  return out;
}

}  // namespace

TEST_CASE("factors of full rank are the whole network, smaller ones are not", "[network]") {
  for_each_network([](const Genome& genome, Cell cell, Head head) {
    Net whole(genome, cell, head);
    auto ranks = full_ranks(whole.net, false);
    Net best(genome, cell, head, ranks);
    train::fill_factors(whole.net.factor_layers(), whole.weights, best.net.factor_layers(), best.weights);
    CHECK(difference(whole, best) < 2e-6);  // float32
    ranks[0] = 1;
    Net less(genome, cell, head, ranks);
    train::fill_factors(whole.net.factor_layers(), whole.weights, less.net.factor_layers(), less.weights);
    CHECK(difference(whole, less) > 1e-4);
    // With the unit matrix as the first factor no product is rounded. The dense head sums in another order.
    auto exact = full_ranks(whole.net, true);
    if (head == Head::dense) exact.back() = 0;
    Net same(genome, cell, head, exact);
    train::fill_factors(whole.net.factor_layers(), whole.weights, same.net.factor_layers(), same.weights);
    const auto layers = same.net.factor_layers(), own = whole.net.factor_layers();
    for (std::size_t l = 0; l < layers.size(); ++l) {
      if (layers[l].rank == 0) continue;
      auto enter = same.weights.values<float>(static_cast<std::size_t>(layers[l].enter));
      for (std::size_t i = 0; i < enter.size(); ++i)
        enter[i] = static_cast<std::int64_t>(i) % (layers[l].inputs + 1) == 0 ? 1.0f : 0.0f;
      const auto w = whole.weights.values<float>(static_cast<std::size_t>(own[l].core));
      std::copy(w.begin(), w.end(), same.weights.values<float>(static_cast<std::size_t>(layers[l].leave)).begin());
    }
    CHECK(difference(whole, same) < 1e-12);
  });
}

TEST_CASE("matrices of a network that can be factored", "[network]") {
  const Genome genome = {1, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  Net n(genome, Cell::lstm, Head::dense, {2, 0, 3, 0, 4, 2});
  const auto layers = n.net.factor_layers();
  const auto infos = n.net.parameters();
  REQUIRE(layers.size() == 6);
  const char* names[] = {"node1.wx", "node1.wh", "node2.from0.w", "node3.wx", "node3.wh", "head.w"};
  for (std::size_t l = 0; l < layers.size(); ++l) CHECK(layers[l].name == names[l]);
  CHECK(infos[0].name == "node1.wx.enter");
  CHECK(infos[1].name == "node1.wx.leave");
  CHECK(infos[2].name == "node1.wh");
  CHECK(layers[0].places == past);
  CHECK(layers[1].places == past - 1);
  CHECK(layers[5].places == 1);
  CHECK(layers[5].inputs == past * 32);
  CHECK(layers[4].multiplications(4) == (past - 1) * 4 * (32 + 128));
  for (const auto& layer : layers) {
    if (layer.rank == 0) continue;
    CHECK(infos[static_cast<std::size_t>(layer.enter)].shape == std::vector{layer.inputs, layer.rank});
    CHECK(infos[static_cast<std::size_t>(layer.leave)].shape == std::vector{layer.rank, layer.outputs});
  }
}

TEST_CASE("widths that the genome does not offer, and those of a smaller network", "[network]") {
  const Genome genome = {3, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0};
  Net own(genome, Cell::lstm, Head::dense), given(genome, Cell::lstm, Head::dense, {}, {20, 0, 0, 0, 0});
  CHECK(own.net.graph().nodes[0].width == 48);
  CHECK(given.net.graph().nodes[0].width == 20);
  CHECK(given.net.graph().nodes[1].width == 16);
  REQUIRE(given.net.width_keys().size() == 1);
  CHECK(given.net.width_keys()[0].widths == std::vector<std::int64_t>{20, 0, 16, 0, 0});
  const auto keys = train::with_widths(deck::parse("{genome: [], widths: []}", "keys"), own.net.width_keys());
  const auto half = train::narrowed(keys, own.net.width_keys(), 0.5)["widths"];
  REQUIRE(half.size() == 5);
  CHECK(half[0].text() == "24");
  CHECK(half[1].text() == "0");
  CHECK(half[2].text() == "8");
}

TEST_CASE("ranks and widths that do not fit the network", "[messages]") {
  const auto says = [](const char* keys) {
    try {
      deck::read<StackedLstm::Params>(deck::parse(keys, "net.yaml"));
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  const auto holds = [&](const char* keys, const char* text) { return says(keys).find(text) != std::string::npos; };
  CHECK(holds("{widths: [8, 8]}", "widths: 2 values for 5 layers; give one for each, 0 for that of the genome"));
  CHECK(holds("{widths: [-1, 0, 0, 0, 0]}", "widths: -1 cells in layer 1; give 0 to 65536"));
  CHECK(holds("{widths: [8, 8, 0, 0, 0]}", "widths: layer 2 has no cells in the genome; give 0 for it"));
  std::string text;
  try {
    StackedLstm net({genomes[0], Cell::lstm, Head::dense, {}, {1}}, past, features, past, modes);
    StackedLstm other({genomes[1], Cell::lstm, Head::dense, {}, {1}}, past, features, past, modes);
  } catch (const InputError& e) {
    text = e.what();
  }
  CHECK(text == "factor_ranks: 1 values for 3 layers; give one for each, 0 for a full one");
}

TEST_CASE("a genome out of range", "[messages]") {
  auto says = [](const Genome& g) {
    try {
      GenomeSpace().require(g);
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  CHECK(says({1, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}) ==
        "genome: value 3 is 7, expected 0 to 6 (the node of a layer)");
  CHECK(says({1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}) ==
        "genome: value 2 is 2, expected 0 to 1 (a skip connection: 0 absent, 1 present)");
  CHECK(says({1, 2}) == "genome: 2 values, expected 14 for 5 layers");
}
