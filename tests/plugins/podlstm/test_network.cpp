// The search space, and networks against a plain oracle and finite differences.
#include <cmath>
#include <set>

#include "core/parallel/random.hpp"
#include "core/train/kinds/buffer.hpp"
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
  Net(const Genome& genome, Cell cell, Head head)
      : net({genome, cell, head}, past, features, past, modes), layout(net.parameters(), 1 << 20),
        weights(layout, DType::f32), gradients(layout, DType::f32) {
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

TEST_CASE("gradients are those of finite differences", "[network]") {
  const auto s = samples(3);
  for (Cell cell : {Cell::lstm, Cell::gru})
    for (Head head : {Head::recurrent, Head::dense})
      for (const auto& genome : genomes) {
        Net n(genome, cell, head);
        INFO(cambium::tune::genome_text(genome)
             << (cell == Cell::gru ? " gru" : " lstm") << (head == Head::dense ? " dense" : " recurrent"));
        train::TermSum sum;
        const double one = 1.0;
        std::vector<int> ready;
        n.net.gradient(s, n.weights.views(), {&one, 1}, n.gradients.views(), {&sum, 1},
                       [&](int k) { ready.push_back(k); });
        CHECK(std::set<int>(ready.begin(), ready.end()).size() == n.layout.tensors().size());
        for (std::size_t k = 0; k < n.layout.tensors().size(); ++k) {
          // along a random direction of this tensor, by the float64 oracle: central differences
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
