// The data set recall against the rule that made it, and what the transformer makes of marked answers and of every type
// of attention: gradients by finite differences, the share of right answers, and features that travel with the state.
#include <cmath>
#include <map>

#include "core/base/error.hpp"
#include "core/train/kinds/buffer.hpp"
#include "core/train/networks/mlp/field.hpp"
#include "plugins/sequence/datasets/associative_recall.hpp"
#include "plugins/sequence/networks/transformer.hpp"
#include "plugins/sequence/networks/transformer_pass.hpp"
#include "tests/catch.hpp"
#include "tests/train/world.hpp"

using namespace cambium;
using namespace cambium::sequence;
using namespace cambium::train;
using cambium::train::testing::World;

namespace {

AssociativeRecall::Params small_set() {
  AssociativeRecall::Params p;
  p.samples = 300;
  p.length = 14;
  p.pairs = 3;
  p.queries = 2;
  p.keys = 5;
  p.values = 4;
  return p;
}

std::vector<double> numbers(const SamplePtr& sample, const char* name) {
  const auto& field = field_of(*sample, name);
  std::vector<double> out(field.elements());
  read_numbers(field, out.data());
  return out;
}

Transformer::Params small_model(AttentionParams attention) {
  Transformer::Params p;
  p.layers = 2;
  p.width = 6;
  p.heads = 2;
  p.expand = 2;
  p.precision = Precision::float64;
  p.attention = attention;
  p.learn = Transformer::Learn::answers;
  return p;
}

struct Fitted {
  World world;
  AssociativeRecall data{small_set(), world.context};
  Transformer network;
  FlatLayout layout;
  FlatBuffer weights;
  std::vector<SamplePtr> samples;

  explicit Fitted(const Transformer::Params& p) : network(p, world.context), layout(fit(), 100000) {
    weights = FlatBuffer(layout, DType::f64);
    network.initialise(weights.views(), 11);
    for (double& w : weights.values<double>()) w *= w == 1.0 ? 1.1 : 3.0;
    const std::int64_t ids[] = {0, 3, 17};
    samples = data.read(ids);
  }
  std::vector<ParameterInfo> fit() {
    network.fit_statistics(data, world.context);
    return network.parameters();
  }
  double loss(FlatBuffer& gradients) {
    const double half[] = {0.5};
    TermSum term[1];
    network.gradient(samples, weights.views(), half, gradients.views(), term, [](int) {});
    CHECK(term[0].count == 3.0);
    return 0.5 * term[0].sum;
  }
};

}  // namespace

TEST_CASE("texts hold their pairs, ask for them, and are all as surprising as their number says") {
  World world;
  const auto p = small_set();
  AssociativeRecall data(p, world.context);
  std::vector<std::int64_t> ids(300);
  for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = static_cast<std::int64_t>(k);
  std::map<int, int> first;
  std::vector<std::vector<double>> seen;
  for (const auto& sample : data.read(ids)) {
    const auto text = numbers(sample, "text"), answer = numbers(sample, "answer"),
               surprise = numbers(sample, "surprise");
    REQUIRE(text.size() == 14);
    REQUIRE(answer.size() == 13);
    std::map<int, int> value_of;
    for (int k = 0; k < 10; ++k) {
      const int byte = static_cast<int>(text[k]);
      if (byte == 0) continue;
      REQUIRE(byte >= 1 + 5 + 4);
      REQUIRE(byte < 1 + 5 + 4 + 20);
      CHECK(value_of.emplace((byte - 10) / 4, (byte - 10) % 4).second);
    }
    CHECK(value_of.size() == 3);
    for (std::size_t k = 10; k < 14; k += 2) {
      const int key = static_cast<int>(text[k]) - 1;
      REQUIRE(value_of.count(key) == 1);
      CHECK(static_cast<int>(text[k + 1]) - 6 == value_of[key]);
      CHECK(answer[k - 1] == 0.0);
      CHECK(answer[k] == 1.0);
    }
    for (std::size_t k = 0; k < 9; ++k) CHECK(answer[k] == 0.0);
    ++first[static_cast<int>(text[0]) > 0];
    // Places of 3 in 10, ordered choices of 3 in 5 keys, values, ordered choices of 2 in 3 questions.
    const double all = std::log(120.0 * 60.0 * 64.0 * 6.0);
    const double begin = -std::log(text[0] > 0 ? 0.3 / 20.0 : 0.7);
    double sum = begin;
    for (double x : surprise) sum += x;
    CHECK(sum == Approx(all).epsilon(1e-6));
    seen.push_back(text);
  }
  CHECK(first[1] == Approx(90).margin(35));
  CHECK(seen[0] != seen[1]);
  auto shifted = p;
  shifted.first = 7;
  const std::int64_t zero[] = {0};
  CHECK(numbers(AssociativeRecall(shifted, world.context).read(zero)[0], "text") == seen[7]);
}

TEST_CASE("gradients of answers through every type of attention are those of finite differences") {
  using Type = AttentionParams::Type;
  for (const AttentionParams& attention : {AttentionParams{Type::softmax, {}}, AttentionParams{Type::two_pass, {}},
                                           AttentionParams{Type::linear, {}}, AttentionParams{Type::favor, 7}}) {
    INFO("type " << static_cast<int>(attention.type));
    Fitted f(small_model(attention));
    FlatBuffer gradients(f.layout, DType::f64), scratch(f.layout, DType::f64);
    f.loss(gradients);
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
}

TEST_CASE("two_pass gives a transformer the losses and gradients of softmax") {
  std::vector<double> losses;
  std::vector<std::vector<double>> gradients;
  for (const auto type : {AttentionParams::Type::softmax, AttentionParams::Type::two_pass}) {
    Fitted f(small_model({type, {}}));
    FlatBuffer g(f.layout, DType::f64);
    losses.push_back(f.loss(g));
    const auto values = g.values<double>();
    gradients.emplace_back(values.begin(), values.end());
  }
  CHECK(losses[1] == Approx(losses[0]).epsilon(1e-13));
  for (std::size_t k = 0; k < gradients[0].size(); ++k)
    REQUIRE(gradients[1][k] == Approx(gradients[0][k]).epsilon(1e-11).margin(1e-13));
}

TEST_CASE("answers_right counts the answers whose byte is the likeliest, and losses of answers are of these alone") {
  auto params = small_model({});
  Fitted f(params);
  const auto metrics = f.network.metrics();
  REQUIRE(metrics.size() == 3);
  CHECK(metrics[2].name == "answers_right");
  std::vector<TermSum> sums(3);
  f.network.evaluate(f.samples, f.weights.views(), sums);
  const auto views = f.weights.views();
  TransformerPass<double> pass({2, 6, 2, 12, 13}, params, views);
  double loss = 0.0, right = 0.0;
  for (const auto& sample : f.samples) {
    const auto text = numbers(sample, "text");
    const auto losses = pass.forward(std::vector<std::uint8_t>(text.begin(), text.end()), 1);
    const auto said = pass.likeliest();
    for (std::size_t k : {10u, 12u}) {
      loss += losses[k];
      right += said[k] == text[k + 1];
    }
  }
  CHECK(sums[0].count == 6.0);
  CHECK(sums[0].sum == Approx(loss));
  CHECK(sums[1].sum == Approx(loss));  // answers follow from the text: their surprise is nothing
  CHECK(sums[2].count == 6.0);
  CHECK(sums[2].sum == right);
  // A head that gives the right answers of the first text a large logit.
  params.learn = Transformer::Learn::every_byte;
  Transformer all(params, f.world.context);
  all.fit_statistics(f.data, f.world.context);
  std::vector<TermSum> every(3);
  all.evaluate(f.samples, f.weights.views(), every);
  CHECK(every[0].count == 39.0);
  CHECK(every[2].sum == right);
}

TEST_CASE(
    "features of favor belong to the state: drawn by the seed, other ones for each layer, given back bit for bit") {
  const auto params = small_model({AttentionParams::Type::favor, 7});
  Fitted f(params);
  const std::string state = f.network.state();
  FlatBuffer g(f.layout, DType::f64), h(f.layout, DType::f64);
  const double loss = f.loss(g);
  Transformer other(params, f.world.context);
  other.restore(state);
  CHECK(other.state() == state);
  const double half[] = {0.5};
  TermSum term[1];
  other.gradient(f.samples, f.weights.views(), half, h.views(), term, [](int) {});
  CHECK(0.5 * term[0].sum == loss);
  CHECK(std::equal(g.values<double>().begin(), g.values<double>().end(), h.values<double>().begin()));
  FlatBuffer scratch(f.layout, DType::f64);
  f.network.initialise(scratch.views(), 11);
  CHECK(f.network.state() == state);
  f.network.initialise(scratch.views(), 12);
  CHECK(f.network.state() != state);
  Transformer more(small_model({AttentionParams::Type::favor, 8}), f.world.context);
  CHECK_THROWS_WITH(more.restore(state),
                    "the model holds 42 values of random features, but attention: {type: favor, features: 8} needs 48; "
                    "give the attention that the model was trained with");
}

TEST_CASE("a masked network says hidden bytes from the whole text, and does not read them") {
  using Type = AttentionParams::Type;
  for (const AttentionParams& attention : {AttentionParams{Type::softmax, {}}, AttentionParams{Type::two_pass, {}},
                                           AttentionParams{Type::linear, {}}, AttentionParams{Type::favor, 7}}) {
    INFO("type " << static_cast<int>(attention.type));
    auto params = small_model(attention);
    params.causal = false;
    Fitted f(params);
    const auto views = f.weights.views();
    const auto features = std::vector<double>(attention.features ? 2 * 7 * 3 : 0, 0.3);
    TransformerPass<double> pass({2, 6, 2, 12, 14}, params, views, features);
    const auto text = numbers(f.samples[0], "text");
    std::vector<std::uint8_t> bytes(text.begin(), text.end());
    std::vector<double> hidden(14, 0.0);
    hidden[11] = hidden[13] = 1.0;
    const auto before = pass.forward(bytes, 1, {}, hidden);
    REQUIRE(before.size() == 14);
    bytes[13] = 200;  // hidden: only its own loss changes
    const auto after = pass.forward(bytes, 1, {}, hidden);
    for (std::size_t k = 0; k < 13; ++k) CHECK(before[k] == after[k]);
    CHECK(before[13] != after[13]);
    bytes[12] = 190;  // behind the hidden byte 11, and seen
    CHECK(pass.forward(bytes, 1, {}, hidden)[11] != before[11]);
  }
}

TEST_CASE("gradients of hidden answers, and of a share of each text, are those of finite differences") {
  for (const auto learn : {Transformer::Learn::answers, Transformer::Learn::every_byte}) {
    auto params = small_model({AttentionParams::Type::linear, {}});
    params.causal = false;
    params.learn = learn;
    params.masked = 0.2;
    Fitted f(params);
    f.network.begin_step(3, 17);
    FlatBuffer gradients(f.layout, DType::f64), scratch(f.layout, DType::f64);
    f.loss(gradients);
    CHECK(f.layout.tensors()[0].info.shape == std::vector<std::int64_t>{257, 6});
    CHECK(f.layout.tensors()[1].info.shape == std::vector<std::int64_t>{14, 6});
    double sign = 0.0;  // of the row that stands for what is hidden
    for (std::size_t i = 256 * 6; i < 257 * 6; ++i) sign += std::abs(gradients.values<double>(0)[i]);
    CHECK(sign > 0.0);
    for (std::size_t k = 0; k < f.layout.tensors().size(); ++k) {
      const auto values = f.weights.values<double>(k);
      for (std::size_t i = values.size() % 7; i<values.size(); i += values.size()> 300 ? 97 : 9) {
        double& w = values[i];
        const double h = 1e-5, kept = w;
        w = kept + h;
        const double up = f.loss(scratch);
        w = kept - h;
        const double down = f.loss(scratch);
        w = kept;
        INFO(f.layout.tensors()[k].info.name << " " << i);
        REQUIRE(gradients.values<double>(k)[i] == Approx((up - down) / (2 * h)).epsilon(1e-5).margin(1e-8));
      }
    }
  }
}

TEST_CASE("what is hidden is drawn by sample and step, and evaluations hide the same") {
  auto params = small_model({});
  params.causal = false;
  params.learn = Transformer::Learn::every_byte;
  params.masked = 0.3;
  Fitted f(params);
  FlatBuffer scratch(f.layout, DType::f64);
  const auto at = [&](std::int64_t step) {
    f.network.begin_step(5, step);
    return f.loss(scratch);
  };
  const double first = at(1);
  CHECK(at(2) != first);
  CHECK(at(1) == first);
  CHECK(f.network.metrics().size() == 1);  // no floor is known, and answers are not hidden
  std::vector<TermSum> one(1), again(1);
  f.network.evaluate(f.samples, f.weights.views(), one);
  f.network.begin_step(9, 40);
  f.network.evaluate(f.samples, f.weights.views(), again);
  CHECK(one[0].count == 3.0 * 4.0);  // 0.3 of 14 bytes
  CHECK(one[0].sum == again[0].sum);
  params.learn = Transformer::Learn::answers;
  Fitted answers(params);
  const auto metrics = answers.network.metrics();
  REQUIRE(metrics.size() == 2);
  CHECK(metrics[1].name == "answers_right");
  std::vector<TermSum> two(2);
  answers.network.evaluate(answers.samples, answers.weights.views(), two);
  CHECK(two[0].count == 6.0);
  CHECK(two[1].count == 6.0);
}
