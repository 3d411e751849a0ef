// Every optimizer against its formula written out in long double, and the split forms against float32 bit for bit.
#include <bit>
#include <cmath>
#include <functional>

#include "core/train/optimizers/bounded_gradient.hpp"
#include "core/train/optimizers/layerwise.hpp"
#include "core/train/optimizers/sgd.hpp"
#include "core/train/optimizers/split.hpp"
#include "tests/catch.hpp"
#include "tests/train/buffers.hpp"

using namespace cambium;
using namespace cambium::train;
using namespace cambium::train::testing;

namespace {

Comm& comm() {
  static Comm world(MPI_COMM_SELF);
  return world;
}
Log silent;
Timing timing;
Context context() { return Context{comm(), silent, timing}; }

using Real = long double;
using Tensors = std::vector<std::vector<Real>>;

/// One tensor's plain update: weights, gradient, two states, step, rate, decay flag.
using Oracle = std::function<void(std::vector<Real>&, const std::vector<Real>&, std::vector<Real>&, std::vector<Real>&,
                                  int, Real, bool)>;

Real norm(const std::vector<Real>& x) {
  Real sum = 0;
  for (Real v : x) sum += v * v;
  return std::sqrt(sum);
}

std::vector<Real> wide(const FlatBuffer& buffer, std::size_t k) {
  const auto values = buffer.values<double>(k);
  return {values.begin(), values.end()};
}

void follow(Optimizer& optimizer, const Oracle& oracle) {
  const FlatLayout layout(some_parameters(12), 200);
  FlatBuffer weights(layout, DType::f64), gradients(layout, DType::f64);
  fill(weights, 1, 0.5);
  auto states = make_states(optimizer, layout, DType::f64);
  optimizer.start(weights, states);
  Tensors w, a, b;
  for (std::size_t k = 0; k < 12; ++k) {
    w.push_back(wide(weights, k));
    a.emplace_back(w[k].size(), 0.0L);
    b.emplace_back(w[k].size(), 0.0L);
  }
  for (int step = 1; step <= 40; ++step) {
    fill(gradients, 100 + step, 0.1);
    const double rate = 0.01 / step;
    optimizer.step({weights, gradients, states, rate, step});
    for (std::size_t k = 0; k < 12; ++k) {
      oracle(w[k], wide(gradients, k), a[k], b[k], step, rate, layout.tensors()[k].info.decay);
      for (std::size_t i = 0; i < w[k].size(); ++i)
        REQUIRE(weights.values<double>(k)[i] == Approx(static_cast<double>(w[k][i])).epsilon(1e-12).margin(1e-13));
    }
  }
}

}  // namespace

TEST_CASE("sgd with momentum, weight decay and Nesterov's gradient") {
  auto ctx = context();
  for (bool nesterov : {false, true}) {
    Sgd sgd({0.9, 0.02, nesterov}, ctx);
    follow(sgd, [&](auto& w, const auto& g, auto& v, auto&, int, Real rate, bool decays) {
      for (std::size_t i = 0; i < w.size(); ++i) {
        const Real d = g[i] + (decays ? 0.02L : 0.0L) * w[i];
        v[i] = 0.9L * v[i] + d;
        w[i] -= rate * (nesterov ? d + 0.9L * v[i] : v[i]);
      }
    });
  }
}

TEST_CASE("adam and adamw") {
  auto ctx = context();
  for (bool decoupled : {false, true}) {
    AdamParams p{0.9, 0.99, 1e-6, 0.1};
    Adam adam({p}, ctx);
    AdamW adamw({p}, ctx);
    follow(decoupled ? static_cast<Optimizer&>(adamw) : adam,
           [&](auto& w, const auto& g, auto& m, auto& v, int t, Real rate, bool decays) {
             const Real beta = decays ? 0.1L : 0.0L;
             for (std::size_t i = 0; i < w.size(); ++i) {
               const Real d = g[i] + (decoupled ? 0.0L : beta * w[i]);
               m[i] = 0.9L * m[i] + 0.1L * d;
               v[i] = 0.99L * v[i] + 0.01L * d * d;
               const Real mh = m[i] / (1 - std::pow(0.9L, t)), vh = v[i] / (1 - std::pow(0.99L, t));
               if (decoupled) w[i] *= 1 - rate * beta;
               w[i] -= rate * mh / (std::sqrt(vh) + 1e-6L);
             }
           });
  }
}

TEST_CASE("lars: a rate for every tensor") {
  auto ctx = context();
  Lars lars({0.9, 0.05, 0.02}, ctx);
  follow(lars, [](auto& w, const auto& g, auto& v, auto&, int, Real rate, bool decays) {
    const Real beta = decays ? 0.05L : 0.0L;
    const Real lambda = decays ? 0.02L * norm(w) / (norm(g) + beta * norm(w)) : 1.0L;
    for (std::size_t i = 0; i < w.size(); ++i) {
      v[i] = 0.9L * v[i] + rate * lambda * (g[i] + beta * w[i]);
      w[i] -= v[i];
    }
  });
}

TEST_CASE("lamb: Adam's direction at the size of each tensor") {
  auto ctx = context();
  Lamb lamb({{0.9, 0.99, 1e-6, 0.05}}, ctx);
  follow(lamb, [](auto& w, const auto& g, auto& m, auto& v, int t, Real rate, bool decays) {
    std::vector<Real> u(w.size());
    for (std::size_t i = 0; i < w.size(); ++i) {
      m[i] = 0.9L * m[i] + 0.1L * g[i];
      v[i] = 0.99L * v[i] + 0.01L * g[i] * g[i];
      u[i] = m[i] / (1 - std::pow(0.9L, t)) / (std::sqrt(v[i] / (1 - std::pow(0.99L, t))) + 1e-6L) +
             (decays ? 0.05L : 0.0L) * w[i];
    }
    const Real trust = decays ? norm(w) / norm(u) : 1.0L;
    for (std::size_t i = 0; i < w.size(); ++i) w[i] -= rate * trust * u[i];
  });
}

TEST_CASE("a tensor of zeros is stepped without dividing by its norm") {
  auto ctx = context();
  const FlatLayout layout({{"w", {20}, true}}, 200);
  Lars lars({0.9, 0.0, 0.001}, ctx);
  Lamb lamb({{0.9, 0.99, 1e-6, 0.05}}, ctx);
  for (Optimizer* optimizer : {static_cast<Optimizer*>(&lars), static_cast<Optimizer*>(&lamb)}) {
    FlatBuffer weights(layout, DType::f64), gradients(layout, DType::f64);
    fill(gradients, 4);
    auto states = make_states(*optimizer, layout, DType::f64);
    optimizer->step({weights, gradients, states, 0.1, 1});
    for (double w : weights.values<double>(0)) REQUIRE((std::isfinite(w) && w != 0.0));
  }
}

/// Steps both forms with the same gradients and compares all bits.
static void compare_split(Optimizer& split, Optimizer& whole, int steps) {
  const FlatLayout layout(some_parameters(6), 200);
  FlatBuffer w(layout, DType::f32), high(layout, DType::f32), g(layout, DType::f32);
  fill(w, 1, 0.5);
  high.copy_from(w);
  auto ws = make_states(whole, layout, DType::f32), ss = make_states(split, layout, DType::f32);
  split.start(high, ss);
  long different = 0, truncated = 0;
  for (int step = 1; step <= steps; ++step) {
    fill(g, 1000 + step, 0.1);
    whole.step({w, g, ws, 1e-3, step});
    split.step({high, g, ss, 1e-3, step});
    for (std::size_t k = 0; k < layout.tensors().size(); ++k)
      for (std::size_t i = 0; i < w.values<float>(k).size(); ++i) {
        const float seen = high.values<float>(k)[i];
        different += std::bit_cast<std::uint32_t>(join(seen, ss[0].values<std::uint16_t>(k)[i])) !=
                     std::bit_cast<std::uint32_t>(w.values<float>(k)[i]);
        truncated += low_half(seen) != 0;
      }
  }
  REQUIRE(different == 0);
  REQUIRE(truncated == 0);
}

TEST_CASE("split sgd is float32 sgd bit for bit over 10^4 steps") {
  auto ctx = context();
  for (double momentum : {0.0, 0.9}) {
    SplitSgd split({momentum, 0.01}, ctx);
    Sgd whole({momentum, 0.01, false}, ctx);
    compare_split(split, whole, 10000);
  }
}

TEST_CASE("split adamw is float32 adamw bit for bit") {
  auto ctx = context();
  const AdamParams p{0.9, 0.999, 1e-8, 0.01};
  SplitAdamW split({p}, ctx);
  AdamW whole({p}, ctx);
  compare_split(split, whole, 3000);
}

TEST_CASE("clipping bounds elements and the norm of the whole") {
  const FlatLayout layout(some_parameters(5), 200);
  FlatBuffer g(layout, DType::f64);
  fill(g, 9);
  const auto values = g.values<double>();
  const auto bound = [&](const Clip& clip) {
    BoundedGradient bounded(1.0, clip, layout.parameters());
    if (bounded.bounds_norm()) {
      bounded.look(values.data(), std::ssize(values));
      bounded.add(values.data(), std::ssize(values));
    }
    const double norm = bounded.norm();
    bounded.take(values.data(), values.data(), std::ssize(values));
    return norm;
  };
  double before = 0.0;
  for (double s : squared_norms(g)) before += s;
  Clip clip;
  clip.norm = 0.5;
  REQUIRE(bound(clip) == Approx(std::sqrt(before)).epsilon(1e-15));
  double after = 0.0;
  for (double s : squared_norms(g)) after += s;
  REQUIRE(std::sqrt(after) == Approx(0.5).epsilon(1e-12));
  clip.norm.reset();
  clip.value = 0.01;
  REQUIRE(std::isnan(bound(clip)));
  for (double x : packed<double>(g)) REQUIRE(std::abs(x) <= 0.01);
}

TEST_CASE("the norm of a gradient has the same bits in parts of any size and order") {
  const auto norm_in = [](const std::vector<double>& x, std::size_t size, bool backwards) {
    BoundedGradient bounded(0.125, Clip{1.0, {}}, std::ssize(x));
    const auto parts = [&](auto&& f) {
      for (std::size_t k = 0; k * size < x.size(); ++k) {
        const std::size_t n = (x.size() + size - 1) / size, at = (backwards ? n - 1 - k : k) * size;
        f(x.data() + at, static_cast<std::int64_t>(std::min(size, x.size() - at)));
      }
    };
    parts([&](const double* values, std::int64_t n) { bounded.look(values, n); });
    parts([&](const double* values, std::int64_t n) { bounded.add(values, n); });
    return bounded.norm();
  };
  std::vector<double> x(70001);
  for (const double scale : {1.0, 1e-160, 1e150}) {  // squares of the last two are no normal numbers
    Real square = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      const Random4 random(3, Stream::test, k, 0);
      x[k] = scale * (random.uniform(0) - 0.5) * std::pow(10.0, 8.0 * random.uniform(1));
      square += static_cast<Real>(0.125 * x[k]) * static_cast<Real>(0.125 * x[k]);
    }
    const double whole = norm_in(x, x.size(), false);
    CHECK(whole == Approx(static_cast<double>(std::sqrt(square))).epsilon(1e-14));
    for (const std::size_t size : {1, 7, 64, 513, 20000}) CHECK(norm_in(x, size, true) == whole);
  }
  x[4000] = std::numeric_limits<double>::infinity();
  CHECK(std::isinf(norm_in(x, 100, false)));
  x[9] = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(norm_in(x, 100, true)));
  CHECK(norm_in(std::vector<double>(100, 0.0), 7, false) == 0.0);
}

TEST_CASE("the average of weights follows its recursion") {
  const FlatLayout layout({{"w", {1}, true}}, 10);
  FlatBuffer w(layout, DType::f64), average(layout, DType::f64);
  const Average rule{0.9, 2};
  double expected = 0.0;
  for (int step = 1; step <= 10; ++step) {
    w.values<double>(0)[0] = step * step;
    rule.update(average, w, step);
    expected = step <= 2 ? step * step : 0.9 * expected + 0.1 * step * step;
    REQUIRE(average.values<double>(0)[0] == Approx(expected).epsilon(1e-14));
  }
}
