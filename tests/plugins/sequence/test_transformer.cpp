// The transformer's gradients against finite differences, its blindness to what comes later, and the made language's
// entropy against its texts.
#include <cmath>
#include <map>

#include "core/base/error.hpp"
#include "core/train/kinds/buffer.hpp"
#include "plugins/sequence/datasets/synthetic_grammar.hpp"
#include "plugins/sequence/networks/transformer.hpp"
#include "plugins/sequence/networks/transformer_ops.hpp"
#include "plugins/sequence/networks/transformer_pass.hpp"
#include "tests/catch.hpp"
#include "tests/train/world.hpp"

using namespace cambium;
using namespace cambium::sequence;
using namespace cambium::train;
using cambium::train::testing::World;

namespace {

SyntheticGrammar small_set(World& world) {
  SyntheticGrammar::Params p;
  p.samples = 20;
  p.length = 12;
  p.classes = 3;
  p.words = 4;
  return SyntheticGrammar(p, world.context);
}

Transformer::Params small_model() {
  Transformer::Params p;
  p.layers = 2;
  p.width = 6;
  p.heads = 2;
  p.expand = 3;
  p.precision = Precision::float64;
  return p;
}

double loss(Transformer& net, std::span<const SamplePtr> samples, FlatBuffer& weights, const FlatLayout& layout) {
  FlatBuffer scratch(layout, weights.dtype());
  const double one[] = {1.0};
  TermSum term[1];
  net.gradient(samples, weights.views(), one, scratch.views(), term, [](int) {});
  return term[0].sum;
}

}  // namespace

TEST_CASE(
    "gradients of a transformer are those of finite differences, and announced once from the last to the first "
    "module") {
  World world;
  Transformer net(small_model(), world.context);
  auto data = small_set(world);
  net.fit_statistics(data, world.context);
  const FlatLayout layout(net.parameters(), 100000);
  FlatBuffer weights(layout, DType::f64), gradients(layout, DType::f64);
  net.initialise(weights.views(), 11);
  for (double& w : weights.values<double>()) w *= w == 1.0 ? 1.1 : 3.0;  // far enough from zero that everything matters
  const std::int64_t ids[] = {0, 3, 17};
  const auto samples = data.read(ids);
  const double half[] = {0.5};
  TermSum term[1];
  std::vector<int> order, opened;
  const ReadyCallback ready([&](int k) { order.push_back(k); }, [](int) {}, [&](int m) { opened.push_back(m); },
                            [](int) {});
  net.gradient(samples, weights.views(), half, gradients.views(), term, ready);
  CHECK(opened == std::vector<int>{3, 2, 1, 0});
  REQUIRE(order.size() == layout.tensors().size());
  CHECK(term[0].count == 3.0);
  for (std::size_t k = 0; k < layout.tensors().size(); ++k) {
    const auto values = weights.values<double>(k);
    const std::size_t stride = k == 0 || values.size() > 300 ? 13 : 3;
    double largest = 0.0;
    for (std::size_t i = 0; i < values.size(); i += stride) {
      double& w = values[i];
      const double h = 1e-5, kept = w;
      w = kept + h;
      const double up = loss(net, samples, weights, layout);
      w = kept - h;
      const double down = loss(net, samples, weights, layout);
      w = kept;
      largest = std::max(largest, std::abs(gradients.values<double>(k)[i]));
      INFO(layout.tensors()[k].info.name << " " << i);
      REQUIRE(gradients.values<double>(k)[i] == Approx(0.5 * (up - down) / (2 * h)).epsilon(1e-5).margin(1e-8));
    }
    CHECK(largest > 0.0);
  }
}

TEST_CASE("no byte is predicted from itself or from what follows") {
  World world;
  auto params = small_model();
  Transformer net(params, world.context);
  auto data = small_set(world);
  net.fit_statistics(data, world.context);
  const FlatLayout layout(net.parameters(), 100000);
  FlatBuffer weights(layout, DType::f64);
  net.initialise(weights.views(), 5);
  const auto views = weights.views();
  TransformerPass<double> pass({2, 6, 2, 18, 11}, params, views);
  std::vector<std::uint8_t> text{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};
  const auto before = pass.forward(text, 1);
  text[7] = 200;  // predicted at place 6, read from place 7 on
  const auto after = pass.forward(text, 1);
  for (std::size_t k = 0; k < 6; ++k) CHECK(before[k] == after[k]);
  for (std::size_t k = 6; k < 11; ++k) CHECK(before[k] != after[k]);
}

TEST_CASE("rounding of what enters products") {
  std::vector<double> row{0.5, -2.0, 0.011, 0.0, 5e-4, 0.25};
  round_rows_to_int8<double>(row, 3);
  CHECK(row == std::vector<double>{std::nearbyint(0.5 * 63.5) * (2.0 / 127), -2.0, 1 * (2.0 / 127), 0.0, 0.0, 0.25});
  std::vector<float> matrix{0.6f, -0.1f, -1.0f, 0.3f};  // mean magnitude 0.5
  round_to_ternary<float>(matrix);
  CHECK(matrix == std::vector<float>{0.5f, 0.0f, -0.5f, 0.5f});
}

TEST_CASE(
    "the entropy of the language is the mean surprise of its texts, and surprises are of chances that sum to one") {
  Grammar::Params p;
  const Grammar grammar(p);
  CHECK(grammar.words().size() == 128);
  const std::int64_t length = 33;
  double sum = 0.0, square = 0.0;
  const int texts = 4000;
  std::map<int, int> brackets;
  for (int k = 0; k < texts; ++k) {
    const auto text = grammar.text(static_cast<std::uint64_t>(k), length);
    REQUIRE(std::ssize(text.bytes) == length);
    double surprise = 0.0;
    for (std::int64_t i = 1; i < length; ++i) surprise += static_cast<double>(text.surprise[i]);
    surprise /= static_cast<double>(length - 1);
    sum += surprise;
    square += surprise * surprise;
    for (auto byte : text.bytes) ++brackets[byte];
  }
  const double mean = sum / texts, deviation = std::sqrt((square / texts - mean * mean) / texts);
  CHECK(deviation < 0.004);
  CHECK(grammar.entropy(length) == Approx(mean).margin(4.0 * deviation));
  CHECK(brackets['('] > 500);
  CHECK(brackets[')'] < brackets['(']);
  // The chances of the first byte: those of what texts begin with.
  std::map<int, double> first;
  for (int k = 0; k < texts; ++k) {
    const auto text = grammar.text(static_cast<std::uint64_t>(k), 2);
    first[text.bytes[0]] = std::exp(-static_cast<double>(text.surprise[0]));
  }
  double total = 0.0;
  for (const auto& [byte, chance] : first) total += chance;
  CHECK(total == Approx(1.0).margin(2e-3));
  const auto again = Grammar(p).text(7, length), other = grammar.text(8, length);
  CHECK(again.bytes == grammar.text(7, length).bytes);
  CHECK(again.bytes != other.bytes);
}
