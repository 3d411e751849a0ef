// Gradients of the fully connected network against finite differences.
#include <cmath>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/host_threads.hpp"
#include "core/train/data/expression_set.hpp"
#include "core/train/kinds/buffer.hpp"
#include "core/train/networks/mlp/mlp.hpp"
#include "tests/catch.hpp"
#include "tests/train/world.hpp"

using namespace cambium;
using namespace cambium::train;
using cambium::train::testing::World;

namespace {

ExpressionSet made(World& world, bool classes) {
  ExpressionSet::Params p;
  p.samples = 50;
  p.box = {{"x", {-1.0, 1.0}}, {"y", {0.0, 2.0}}};
  if (classes)
    p.target = {{"c", "step(x) + step(y - 1)"}};
  else
    p.target = {{"u", "sin(3*x)*y"}, {"v", "5 + 10*x*y"}};
  return ExpressionSet(p, world.context);
}

double loss(Mlp& net, std::span<const SamplePtr> samples, FlatBuffer& weights) {
  FlatBuffer scratch(weights.layout(), weights.dtype());
  const double one[1] = {1.0};
  TermSum term[1];
  net.gradient(samples, weights.views(), one, scratch.views(), term, [](int) {});
  return term[0].sum;
}

}  // namespace

TEST_CASE("gradients are those of finite differences, for every activation and goal") {
  World world;
  for (auto goal : {Mlp::Goal::regression, Mlp::Goal::classification})
    for (auto activation : {Mlp::Activation::tanh, Mlp::Activation::relu, Mlp::Activation::sigmoid,
                            Mlp::Activation::gelu, Mlp::Activation::silu}) {
      Mlp::Params p;
      p.layers = {7, 5};
      p.activation = activation;
      p.goal = goal;
      p.label_smoothing = 0.1;
      p.precision = Precision::float64;
      Mlp net(p, world.context);
      auto data = made(world, goal == Mlp::Goal::classification);
      net.fit_statistics(data, world.context);
      const FlatLayout layout(net.parameters(), 1000);
      FlatBuffer weights(layout, DType::f64), gradients(layout, DType::f64);
      net.initialise(weights.views(), 11);
      const std::int64_t ids[] = {0, 3, 4, 17, 41};
      const auto samples = data.read(ids);
      const double half[1] = {0.5};
      TermSum term[1];
      std::vector<int> order;
      net.gradient(samples, weights.views(), half, gradients.views(), term, [&](int k) { order.push_back(k); });
      REQUIRE(order == std::vector<int>{5, 4, 3, 2, 1, 0});
      REQUIRE(term[0].count == 5.0);
      for (std::size_t k = 0; k < layout.tensors().size(); ++k)
        for (std::size_t i = 0; i < weights.values<double>(k).size(); i += 3) {
          double& w = weights.values<double>(k)[i];
          const double h = 1e-6, kept = w;
          w = kept + h;
          const double up = loss(net, samples, weights);
          w = kept - h;
          const double down = loss(net, samples, weights);
          w = kept;
          REQUIRE(gradients.values<double>(k)[i] == Approx(0.5 * (up - down) / (2 * h)).epsilon(1e-5).margin(1e-7));
        }
    }
}

TEST_CASE("gradients of several threads are those of one") {
  World world;
  auto data = made(world, false);
  std::vector<std::int64_t> ids;
  for (std::int64_t k = 0; k < data.size(); ++k) ids.push_back(k);
  const auto samples = data.read(ids);
  for (const bool ranks : {false, true}) {
    Mlp::Params p;
    p.layers = {80, 70};
    p.precision = Precision::float64;
    if (ranks) p.ranks = {0, 33, 0};
    Mlp net(p, world.context);
    net.fit_statistics(data, world.context);
    const FlatLayout layout(net.parameters(), 1000);
    FlatBuffer weights(layout, DType::f64), first(layout, DType::f64);
    net.initialise(weights.views(), 11);
    const double half[1] = {0.5};
    for (const int threads : {1, 2, 3}) {
      const AsIfThreads as_if(threads);
      FlatBuffer gradients(layout, DType::f64);
      TermSum term[1];
      net.gradient(samples, weights.views(), half, gradients.views(), term, [](int) {});
      if (threads == 1) first.copy_from(gradients);
      double largest = 0.0, change = 0.0;
      const auto a = first.values<double>(), b = gradients.values<double>();
      for (std::size_t k = 0; k < a.size(); ++k) {
        largest = std::max(largest, std::abs(a[k]));
        change = std::max(change, std::abs(a[k] - b[k]));
      }
      REQUIRE(largest > 0.0);
      REQUIRE(change <= 1e-13 * largest);
    }
  }
}

TEST_CASE("bfloat16 products are those of rounded factors") {
  World world;
  Mlp::Params p;
  p.layers = {6};
  p.precision = Precision::bfloat16;
  Mlp low(p, world.context);
  p.precision = Precision::float32;
  Mlp full(p, world.context);
  auto data = made(world, false);
  low.fit_statistics(data, world.context);
  full.fit_statistics(data, world.context);
  const FlatLayout layout(low.parameters(), 1000);
  FlatBuffer weights(layout, DType::f32);
  low.initialise(weights.views(), 11);
  const std::int64_t ids[] = {0, 1, 2, 3};
  const auto samples = data.read(ids);
  const auto a = low.predict(samples, weights.views()), b = full.predict(samples, weights.views());
  double largest = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) largest = std::max(largest, std::abs(a[k] - b[k]));
  REQUIRE(largest > 1e-6);  // it does round
  REQUIRE(largest < 0.15);  // by 2^-9 of each factor; targets spread over 6
}

TEST_CASE("statistics come back from their text") {
  World world;
  Mlp::Params p;
  p.layers = {4};
  p.precision = Precision::float64;
  Mlp a(p, world.context), b(p, world.context);
  auto data = made(world, false);
  a.fit_statistics(data, world.context);
  b.restore(a.state());
  REQUIRE(a.state() == b.state());
  const FlatLayout layout(b.parameters(), 1000);
  FlatBuffer weights(layout, DType::f64);
  b.initialise(weights.views(), 2);
  const std::int64_t ids[] = {5, 6};
  const auto samples = data.read(ids);
  REQUIRE(a.predict(samples, weights.views()) == b.predict(samples, weights.views()));
}

TEST_CASE("a field that the samples lack is named") {
  World world;
  Mlp::Params p;
  p.layers = {4};
  p.input = "image";
  Mlp net(p, world.context);
  auto data = made(world, false);
  REQUIRE_THROWS_WITH(net.fit_statistics(data, world.context), "sample 0 has no field 'image'; it has: input, target");
}

namespace {

/// Samples of fields given as functions of their number.
class Made : public Dataset {
 public:
  using Value = double (*)(std::int64_t id, std::size_t k);
  Made(std::int64_t samples, std::size_t inputs, std::size_t targets, Value input, Value target)
      : samples_(samples), inputs_(inputs), targets_(targets), input_(input), target_(target) {}
  void open(Context&) override {}
  std::int64_t size() const override { return samples_; }
  std::vector<FieldInfo> fields() const override {
    return {{"input", "", {static_cast<std::int64_t>(inputs_)}, DType::f64},
            {"target", "", {static_cast<std::int64_t>(targets_)}, DType::f64}};
  }
  std::vector<SamplePtr> read(std::span<const std::int64_t> ids) override {
    std::vector<SamplePtr> out;
    for (auto id : ids) {
      auto numbers = std::make_shared<std::vector<double>>();
      for (std::size_t k = 0; k < inputs_; ++k) numbers->push_back(input_(id, k));
      for (std::size_t k = 0; k < targets_; ++k) numbers->push_back(target_(id, k));
      auto sample = std::make_shared<Sample>();
      sample->id = id;
      sample->fields["input"] = io::tensor_of(std::span<const double>(numbers->data(), inputs_));
      sample->fields["target"] = io::tensor_of(std::span<const double>(numbers->data() + inputs_, targets_));
      sample->storage = numbers;
      out.push_back(std::move(sample));
    }
    return out;
  }

 private:
  std::int64_t samples_;
  std::size_t inputs_, targets_;
  Value input_, target_;
};

double any_number(std::int64_t id, std::size_t k) {
  return std::sin(1.0 + 7.0 * static_cast<double>(id) + static_cast<double>(k));
}

}  // namespace

TEST_CASE("a column that never changes keeps the scale 1, whatever rounding makes of its mean") {
  World world;
  const auto tenth = [](std::int64_t id, std::size_t k) { return k == 1 ? 0.1 : any_number(id, k); };
  Made data(500, 2, 1, tenth, any_number);
  Mlp::Params p;
  p.layers = {4};
  p.precision = Precision::float64;
  Mlp net(p, world.context);
  net.fit_statistics(data, world.context);
  const FlatLayout layout(net.parameters(), 1000);
  FlatBuffer weights(layout, DType::f64);
  net.initialise(weights.views(), 11);
  Made rounded(
      500, 2, 1, [](std::int64_t id, std::size_t k) { return k == 1 ? static_cast<double>(0.1f) : any_number(id, k); },
      any_number);
  const std::int64_t ids[] = {0, 7, 499};
  const auto exact = net.predict(data.read(ids), weights.views()),
             near = net.predict(rounded.read(ids), weights.views());
  for (std::size_t k = 0; k < 3; ++k) CHECK(near[k] == Approx(exact[k]).margin(1e-7));
}

TEST_CASE("a rare class counts wherever it stands") {
  World world;
  Made data(9000, 2, 1, any_number,
            [](std::int64_t id, std::size_t) { return id == 8999 ? 2.0 : static_cast<double>(id % 2); });
  Mlp::Params p;
  p.layers = {4};
  p.goal = Mlp::Goal::classification;
  Mlp net(p, world.context);
  net.fit_statistics(data, world.context);
  CHECK(net.outputs()[0].shape[0] == 3);
}

TEST_CASE("the values of a target count alike in scaled_error, and unequal ones are warned of") {
  World world;
  const auto unequal = [](std::int64_t id, std::size_t k) {
    return k == 2 ? 7.0 : (k == 0 ? 1e5 : 1e-3) * any_number(id, k + 3);
  };
  Mlp::Params p;
  p.layers = {4};
  p.precision = Precision::float64;
  Mlp net(p, world.context);
  Made data(500, 2, 3, any_number, unequal);
  net.fit_statistics(data, world.context);
  REQUIRE(world.log.warnings().size() == 1);
  CHECK_THAT(world.log.warnings()[0].text,
             Catch::StartsWith("target 'target': the standard deviations of its values are 0.000707 to 7.07e+04"));
  REQUIRE(net.metrics().size() == 2);
  const FlatLayout layout(net.parameters(), 1000);
  FlatBuffer weights(layout, DType::f64);
  net.initialise(weights.views(), 11);
  const std::int64_t ids[] = {0, 7, 499};
  const auto samples = data.read(ids);
  std::vector<TermSum> sums(2);
  net.evaluate(samples, weights.views(), sums);
  const auto y = net.predict(samples, weights.views());
  double plain = 0.0, scaled = 0.0;
  for (std::size_t s = 0; s < 3; ++s)
    for (std::size_t k = 0; k < 3; ++k) {
      const double error = y[3 * s + k] - static_cast<const double*>(samples[s]->fields.at("target").data)[k];
      double mean = 0.0, square = 0.0;  // of all samples
      for (std::int64_t id = 0; id < 500; ++id) {
        const std::int64_t one[] = {id};
        const auto sample = data.read(one);
        const double value = static_cast<const double*>(sample[0]->fields.at("target").data)[k];
        mean += value / 500.0;
        square += value * value / 500.0;
      }
      plain += error * error;
      scaled += error * error / (k == 2 ? 1.0 : square - mean * mean);
    }
  CHECK(sums[0].sum == Approx(plain));
  CHECK(sums[1].sum == Approx(scaled));
  CHECK(sums[0].count == 9.0);
  CHECK(sums[1].count == 9.0);
  World quiet;  // values of one order
  Made equal(500, 2, 2, any_number, [](std::int64_t id, std::size_t k) { return (k ? 1e4 : 1e5) * any_number(id, k); });
  Mlp(p, quiet.context).fit_statistics(equal, quiet.context);
  CHECK(quiet.log.warnings().empty());
  Made one(500, 2, 1, any_number, any_number);
  net.fit_statistics(one, world.context);
  CHECK(net.metrics().size() == 1);
}
