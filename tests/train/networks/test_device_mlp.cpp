// The passes by kernels against those of the host: gradients, losses, what is evaluated and inferred.
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/parallel/random.hpp"
#include "core/train/data/expression_set.hpp"
#include "core/train/kinds/buffer.hpp"
#include "core/train/networks/mlp/coded_weights.hpp"
#include "core/train/networks/mlp/mlp.hpp"
#include "tests/catch.hpp"
#include "tests/train/world.hpp"

using namespace cambium;
using namespace cambium::train;
using cambium::train::testing::World;

namespace {

using Slices = std::vector<std::vector<SamplePtr>>;

ExpressionSet surfaces(World& world, bool classes) {
  ExpressionSet::Params p;
  p.samples = 90;
  p.box = {{"x", {-1.0, 1.0}}, {"y", {0.0, 2.0}}};
  if (classes)
    p.target = {{"c", "step(x) + step(y - 1)"}};
  else
    p.target = {{"u", "sin(3*x)*y"}, {"v", "5 + 10*x*y"}, {"w", "exp(x)"}};
  return ExpressionSet(p, world.context);
}

std::vector<SamplePtr> some(ExpressionSet& data, int first, int n) {
  std::vector<std::int64_t> ids;
  for (int k = 0; k < n; ++k) ids.push_back((first + 7 * k) % 90);
  return data.read(ids);
}

/// Largest difference over the largest number.
template <class T>
double apart(std::span<const T> a, std::span<const T> b) {
  double largest = 0.0, change = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    largest = std::max(largest, std::abs(static_cast<double>(a[k])));
    change = std::max(change, std::abs(static_cast<double>(a[k]) - static_cast<double>(b[k])));
    if (!std::isfinite(b[k])) return 1e300;
  }
  return change / std::max(largest, 1e-30);
}

double apart(const FlatBuffer& a, const FlatBuffer& b) {
  double worst = 0.0;
  with_real(a.dtype(), [&]<class T>() {
    for (std::size_t k = 0; k < a.layout().tensors().size(); ++k)
      worst = std::max(worst, apart<T>(a.values<T>(k), b.values<T>(k)));
  });
  return worst;
}

/// A network on the host and its like by kernels.
struct Pair {
  World& world;
  ExpressionSet data;
  std::unique_ptr<Mlp> on[2];
  std::optional<FlatLayout> layout;
  FlatBuffer weights;

  Pair(World& w, Mlp::Params p) : world(w), data(surfaces(w, p.goal == Mlp::Goal::classification)) {
    for (int k = 0; k < 2; ++k) {
      p.compute = k ? Mlp::Compute::kernels : Mlp::Compute::host;
      on[k] = std::make_unique<Mlp>(p, world.context);
      on[k]->fit_statistics(data, world.context);
    }
    layout.emplace(on[0]->parameters(), 1000);
    weights = FlatBuffer(*layout, on[0]->dtype());
    start(11);
  }
  void start(std::uint64_t seed) { on[0]->initialise(weights.views(), seed); }

  FlatBuffer gradient(int k, const Slices& slices, TermSum& term, bool in_step) {
    FlatBuffer out(*layout, weights.dtype());
    const double part[1] = {0.25};
    std::vector<int> order;
    if (in_step) on[k]->begin_step(3, 5);
    for (const auto& slice : slices)
      on[k]->gradient(slice, weights.views(), part, out.views(), std::span(&term, 1),
                      [&](int parameter) { order.push_back(parameter); });
    REQUIRE(order.size() == slices.size() * layout->tensors().size());
    REQUIRE(std::is_sorted(order.begin(), order.begin() + std::ssize(layout->tensors()), std::greater<>()));
    return out;
  }

  void compare(double bound, double loss_bound, const Slices& slices, bool in_step) {
    TermSum term[2];
    const auto a = gradient(0, slices, term[0], in_step), b = gradient(1, slices, term[1], in_step);
    CHECK(apart(a, b) < bound);
    CHECK(term[0].count == term[1].count);
    CHECK(term[1].sum == Approx(term[0].sum).epsilon(loss_bound).margin(1e-300));
    std::vector<TermSum> judged[2];
    for (int k = 0; k < 2; ++k) {
      judged[k].resize(on[k]->metrics().size());
      on[k]->begin_evaluation(data, weights.views());
      for (const auto& slice : slices) on[k]->evaluate(slice, weights.views(), judged[k]);
    }
    CHECK(judged[1].back().sum == Approx(judged[0].back().sum).epsilon(loss_bound).margin(1e-300));
    const auto x = on[0]->predict(slices[0], weights.views()), y = on[1]->predict(slices[0], weights.views());
    CHECK(apart<double>(x, y) < bound);
  }
};

}  // namespace

TEST_CASE(
    "kernels give the gradients of the host: activations, precisions, losses, widths, batches, slices at random") {
  World world;
  int case_number = 0;
  for (auto precision : {Precision::float64, Precision::float32, Precision::bfloat16})
    for (auto activation : {Mlp::Activation::tanh, Mlp::Activation::relu, Mlp::Activation::sigmoid,
                            Mlp::Activation::gelu, Mlp::Activation::silu})
      for (auto goal : {Mlp::Goal::regression, Mlp::Goal::classification}) {
        const Random4 draw(21, Stream::test, static_cast<std::uint64_t>(++case_number), 0),
            more(22, Stream::test, static_cast<std::uint64_t>(case_number), 0);
        const auto below = [](double u, int n) { return std::min(n - 1, static_cast<int>(u * n)); };
        Mlp::Params p;
        p.precision = precision;
        p.activation = activation;
        p.goal = goal;
        p.label_smoothing = case_number % 3 ? 0.0 : 0.1;
        p.layers = {1 + below(draw.uniform(0), 70), 1 + below(draw.uniform(1), 40)};
        if (case_number % 4 == 1) p.layers.pop_back();
        if (case_number % 5 == 2) p.ranks = std::vector<std::int64_t>(p.layers.size() + 1, 3);
        Pair pair(world, p);
        Slices slices;
        const int sizes[] = {1, 3, 17, 32, 81};
        for (int s = 0; s <= below(more.uniform(0), 3); ++s)
          slices.push_back(some(pair.data, 5 * s, sizes[(case_number + s) % 5]));
        INFO("case " << case_number << ", widths " << p.layers.front() << ' ' << p.layers.back() << ", slices "
                     << slices.size() << " of " << slices[0].size());
        const bool low = precision == Precision::bfloat16, full = precision == Precision::float64;
        // In bfloat16 a last bit of a sum may turn a rounding: 2^-9 of a factor.
        const double bound = full ? 1e-12 : low ? 1e-2 : 1e-5;
        for (const bool in_step : {false, true, true}) {
          pair.compare(bound, full ? 1e-12 : low ? 1e-3 : 1e-5, slices, in_step);
          pair.start(static_cast<std::uint64_t>(case_number) + 40);  // other weights in the same place
        }
      }
}

TEST_CASE("weights that come and go with their layers are taken up while they are there") {
  World world;
  Mlp::Params p;
  p.layers = {9, 6};
  p.precision = Precision::float64;
  Pair pair(world, p);
  const auto samples = some(pair.data, 0, 23);
  TermSum term[2];
  const auto whole = pair.gradient(0, Slices{samples}, term[0], false);
  FlatBuffer hidden(*pair.layout, DType::f64), divided(*pair.layout, DType::f64);
  std::vector<std::string> calls;
  const auto fill = [&](int layer, bool there) {
    for (std::size_t k = 2 * static_cast<std::size_t>(layer); k < 2 * static_cast<std::size_t>(layer) + 2; ++k) {
      const auto from = pair.weights.values<double>(k);
      const auto to = hidden.values<double>(k);
      for (std::size_t i = 0; i < to.size(); ++i) to[i] = there ? from[i] : std::nan("");
    }
  };
  for (int l = 0; l < 3; ++l) fill(l, false);
  const ReadyCallback ready([&](int k) { calls.push_back("r" + std::to_string(k)); },
                            [&](int l) { fill(l, true), calls.push_back("f" + std::to_string(l)); },
                            [&](int l) { fill(l, true), calls.push_back("b" + std::to_string(l)); },
                            [&](int l) { fill(l, false), calls.push_back("x" + std::to_string(l)); });
  const double part[1] = {0.25};
  pair.on[1]->begin_step(1, 1);
  pair.on[1]->gradient(samples, hidden.views(), part, divided.views(), std::span(&term[1], 1), ready);
  CHECK(apart(whole, divided) < 1e-12);
  CHECK(calls == std::vector<std::string>{"f0", "x0", "f1", "x1", "f2", "x2", "b2", "r5", "r4", "x2", "b1", "r3", "r2",
                                          "x1", "b0", "r1", "r0", "x0"});
}

TEST_CASE("rows that are no numbers make the loss of the kernels none, and the last page says where it was computed") {
  World world;
  for (auto goal : {Mlp::Goal::regression, Mlp::Goal::classification}) {
    Mlp::Params p;
    p.layers = {5};
    p.goal = goal;
    Pair pair(world, p);
    pair.weights.values<float>(0)[0] = std::nanf("");
    TermSum term;
    pair.gradient(1, Slices{some(pair.data, 0, 4)}, term, false);
    CHECK(std::isnan(term.sum));
    REQUIRE(pair.on[1]->report().size() == 1);
    CHECK(pair.on[1]->report()[0].starts_with("mlp: computed by kernels of "));
  }
}

TEST_CASE("weights of few bits are multiplied on the host, which is said") {
  World world;
  Mlp::Params p;
  p.layers = {64, 48};
  Pair pair(world, p);
  QuantizeParams few;
  few.bits = 3;
  const CodedWeights coded(few, *pair.on[0], pair.weights.views());
  const auto samples = some(pair.data, 0, 12);
  const auto full = pair.on[1]->predict(samples, pair.weights.views());
  for (auto& net : pair.on) net->use_coded(coded);
  const auto a = pair.on[0]->predict(samples, pair.weights.views()),
             b = pair.on[1]->predict(samples, pair.weights.views());
  CHECK(a == b);
  CHECK(apart<double>(full, b) > 1e-6);
  CHECK(pair.on[1]->report() ==
        std::vector<std::string>{"mlp: computed on the host, whose tables multiply low-bit weights"});
}
