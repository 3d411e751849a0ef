// rmsprop, nadam, lion and muon against their formulas in long double; parameter groups.
#include <cmath>
#include <functional>

#include "core/base/key_error.hpp"
#include "core/train/optimizers/adam.hpp"
#include "core/train/optimizers/lion.hpp"
#include "core/train/optimizers/muon.hpp"
#include "core/train/optimizers/nadam.hpp"
#include "core/train/optimizers/rmsprop.hpp"
#include "core/train/optimizers/sgd.hpp"
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
using Numbers = std::vector<Real>;
/// Weights, gradient, three states, step, rate, weight decay of one tensor of a shape.
struct Tensor {
  Numbers w, g, a, b, c;
  std::vector<std::int64_t> shape;
  int step = 0;
  Real rate = 0, beta = 0;
};
using Oracle = std::function<void(Tensor&)>;

std::vector<ParameterInfo> parameters() {
  return {{"first.weight", {7, 5}, true}, {"first.bias", {7}, false}, {"second.weight", {3, 2, 4}, true},
          {"second.bias", {3}, false},    {"scale", {1}, true},       {"tall.weight", {40, 3}, true}};
}

Numbers wide(const FlatBuffer& buffer, std::size_t k) {
  const auto values = buffer.values<double>(k);
  return {values.begin(), values.end()};
}

/// 30 steps of both.
void follow(Optimizer& optimizer, Real decay, const Oracle& oracle) {
  const FlatLayout layout(parameters(), 60);
  FlatBuffer weights(layout, DType::f64), gradients(layout, DType::f64);
  fill(weights, 1, 0.5);
  auto states = make_states(optimizer, layout, DType::f64);
  optimizer.start(weights, states);
  std::vector<Tensor> plain;
  for (std::size_t k = 0; k < layout.tensors().size(); ++k) {
    const Numbers w = wide(weights, k), zero(w.size(), 0.0L);
    plain.push_back({w, zero, zero, zero, zero, layout.tensors()[k].info.shape});
  }
  for (int step = 1; step <= 30; ++step) {
    fill(gradients, 100 + step, 0.1);
    const double rate = 0.01 / step;
    optimizer.step({weights, gradients, states, rate, step});
    for (std::size_t k = 0; k < plain.size(); ++k) {
      plain[k].g = wide(gradients, k);
      plain[k].step = step;
      plain[k].rate = rate;
      plain[k].beta = layout.tensors()[k].info.decay ? decay : 0.0L;
      oracle(plain[k]);
      for (std::size_t i = 0; i < plain[k].w.size(); ++i)
        REQUIRE(weights.values<double>(k)[i] ==
                Approx(static_cast<double>(plain[k].w[i])).epsilon(1e-12).margin(1e-12));
    }
  }
}

/// Rows by columns, as they are written.
Numbers product(const Numbers& x, const Numbers& y, std::size_t n, std::size_t m, std::size_t l) {
  Numbers out(n * l, 0.0L);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < l; ++j)
      for (std::size_t k = 0; k < m; ++k) out[i * l + j] += x[i * m + k] * y[k * l + j];
  return out;
}

Numbers transposed(const Numbers& x, std::size_t n, std::size_t m) {
  Numbers out(x.size());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < m; ++j) out[j * n + i] = x[i * m + j];
  return out;
}

Numbers newton_schulz(Numbers x, std::size_t n, std::size_t m) {
  Real square = 0;
  for (const Real v : x) square += v * v;
  for (Real& v : x) v /= std::sqrt(square);
  for (int k = 0; k < 5; ++k) {
    const Numbers a = product(x, transposed(x, n, m), n, m, n), aa = product(a, a, n, n, n);
    Numbers b(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) b[i] = -4.7750L * a[i] + 2.0315L * aa[i];
    const Numbers bx = product(b, x, n, n, m);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 3.4445L * x[i] + bx[i];
  }
  return x;
}

std::string refusal(const ParameterGroups& groups) {
  try {
    require_matches(groups, parameters());
  } catch (const KeyError& error) {
    return error.key() + ": " + error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("rmsprop, plain, centered and with momentum") {
  auto ctx = context();
  for (const bool centered : {false, true})
    for (const double momentum : {0.0, 0.8}) {
      RmsProp rmsprop({.alpha = 0.9, .eps = 1e-6, .weight_decay = 0.1, .momentum = momentum, .centered = centered},
                      ctx);
      CHECK(rmsprop.states(DType::f64).size() == 1u + centered + (momentum > 0));
      follow(rmsprop, 0.1L, [&](Tensor& t) {
        for (std::size_t i = 0; i < t.w.size(); ++i) {
          const Real g = t.g[i] + t.beta * t.w[i];
          t.a[i] = 0.9L * t.a[i] + 0.1L * g * g;
          t.b[i] = 0.9L * t.b[i] + 0.1L * g;
          const Real d = g / (std::sqrt(t.a[i] - (centered ? t.b[i] * t.b[i] : 0.0L)) + 1e-6L);
          t.c[i] = momentum * t.c[i] + d;
          t.w[i] -= t.rate * t.c[i];
        }
      });
    }
}

TEST_CASE("nadam: the momentum of the next step is taken ahead") {
  auto ctx = context();
  NAdam nadam({.betas = {0.9, 0.99}, .eps = 1e-6, .weight_decay = 0.1, .momentum_decay = 0.004}, ctx);
  const auto mu = [](int step) { return 0.9L * (1 - 0.5L * std::pow(0.96L, step * 0.004L)); };
  follow(nadam, 0.1L, [&](Tensor& t) {
    Real before = 1;
    for (int s = 1; s <= t.step; ++s) before *= mu(s);
    for (std::size_t i = 0; i < t.w.size(); ++i) {
      const Real g = t.g[i] + t.beta * t.w[i];
      t.a[i] = 0.9L * t.a[i] + 0.1L * g;
      t.b[i] = 0.99L * t.b[i] + 0.01L * g * g;
      const Real below = std::sqrt(t.b[i] / (1 - std::pow(0.99L, t.step))) + 1e-6L;
      t.w[i] -= t.rate * (1 - mu(t.step)) / (1 - before) * g / below;
      t.w[i] -= t.rate * mu(t.step + 1) / (1 - before * mu(t.step + 1)) * t.a[i] / below;
    }
  });
}

TEST_CASE("nadam goes on at any step as if it had made those before") {
  auto ctx = context();
  const FlatLayout layout(parameters(), 60);
  NAdam whole({}, ctx), later({}, ctx);
  FlatBuffer w(layout, DType::f64), v(layout, DType::f64), g(layout, DType::f64);
  fill(g, 3, 0.1);
  auto states = make_states(whole, layout, DType::f64), others = make_states(later, layout, DType::f64);
  for (int step = 1; step <= 9; ++step) whole.step({w, g, states, 0.01, step});
  v.copy_from(w);
  for (std::size_t k = 0; k < states.size(); ++k) others[k].copy_from(states[k]);
  whole.step({w, g, states, 0.01, 10});
  later.step({v, g, others, 0.01, 10});
  for (std::size_t k = 0; k < layout.tensors().size(); ++k) CHECK(wide(w, k) == wide(v, k));
}

TEST_CASE("lion steps by signs") {
  auto ctx = context();
  Lion lion({.betas = {0.9, 0.95}, .weight_decay = 0.1}, ctx);
  follow(lion, 0.1L, [](Tensor& t) {
    for (std::size_t i = 0; i < t.w.size(); ++i) {
      const Real d = 0.9L * t.a[i] + 0.1L * t.g[i];
      t.w[i] = t.w[i] * (1 - t.rate * t.beta) - t.rate * (d > 0 ? 1 : d < 0 ? -1 : 0);
      t.a[i] = 0.95L * t.a[i] + 0.05L * t.g[i];
    }
  });
}

TEST_CASE("muon: matrices by Newton-Schulz, vectors by AdamW") {
  auto ctx = context();
  for (const bool nesterov : {false, true}) {
    Muon muon({.momentum = 0.9, .weight_decay = 0.1, .vector_rate = 0.5, .nesterov = nesterov}, ctx);
    follow(muon, 0.1L, [&](Tensor& t) {
      if (t.shape.size() < 2) {
        for (std::size_t i = 0; i < t.w.size(); ++i) {
          t.a[i] = 0.9L * t.a[i] + 0.1L * t.g[i];
          t.b[i] = 0.999L * t.b[i] + 0.001L * t.g[i] * t.g[i];
          const Real m = t.a[i] / (1 - std::pow(0.9L, t.step)), v = t.b[i] / (1 - std::pow(0.999L, t.step));
          t.w[i] = t.w[i] * (1 - 0.5L * t.rate * t.beta) - 0.5L * t.rate * m / (std::sqrt(v) + 1e-8L);
        }
        return;
      }
      Numbers direction(t.w.size());
      for (std::size_t i = 0; i < t.w.size(); ++i) {
        t.a[i] = 0.9L * t.a[i] + 0.1L * t.g[i];
        direction[i] = nesterov ? 0.1L * t.g[i] + 0.9L * t.a[i] : t.a[i];
      }
      const auto rows = static_cast<std::size_t>(t.shape[0]), columns = t.w.size() / rows;
      const Numbers o = newton_schulz(direction, rows, columns);
      const Real longer = std::sqrt(std::max(1.0L, static_cast<Real>(rows) / static_cast<Real>(columns)));
      for (std::size_t i = 0; i < t.w.size(); ++i) t.w[i] = t.w[i] * (1 - t.rate * t.beta) - t.rate * longer * o[i];
    });
  }
}

TEST_CASE("parameter groups: rate, decay and frozen parameters by name") {
  auto ctx = context();
  const ParameterGroups groups{{.match = "first.*", .freeze = true},
                               {.match = "*.bias", .rate = 0.25, .weight_decay = 0.5},
                               {.match = "tall*", .rate = 2.0}};
  const FlatLayout layout(parameters(), 60);
  Sgd sgd({.momentum = 0.9, .weight_decay = 0.1, .groups = groups}, ctx);
  AdamW adamw({{.weight_decay = 0.1, .groups = groups}}, ctx);
  Lion lion({.weight_decay = 0.1, .groups = groups}, ctx);
  for (Optimizer* optimizer :
       {static_cast<Optimizer*>(&sgd), static_cast<Optimizer*>(&adamw), static_cast<Optimizer*>(&lion)}) {
    // Each tensor beside an optimizer that has its keys for all.
    for (std::size_t k = 0; k < layout.tensors().size(); ++k) {
      const double rates[] = {0, 0, 1, 0.25, 1, 2}, decays[] = {0, 0, 0.1, 0.5, 0.1, 0.1};
      ParameterInfo info = layout.tensors()[k].info;
      info.decay = true;
      const FlatLayout alone({info}, 60);
      Sgd sgd_alone({.momentum = 0.9, .weight_decay = decays[k]}, ctx);
      AdamW adamw_alone({{.weight_decay = decays[k]}}, ctx);
      Lion lion_alone({.weight_decay = decays[k]}, ctx);
      Optimizer& other = optimizer == &sgd     ? static_cast<Optimizer&>(sgd_alone)
                         : optimizer == &adamw ? static_cast<Optimizer&>(adamw_alone)
                                               : lion_alone;
      FlatBuffer w(layout, DType::f64), g(layout, DType::f64), one(alone, DType::f64), h(alone, DType::f64);
      fill(w, 1, 0.5);
      std::copy(w.values<double>(k).begin(), w.values<double>(k).end(), one.values<double>(0).begin());
      auto states = make_states(*optimizer, layout, DType::f64), few = make_states(other, alone, DType::f64);
      for (int step = 1; step <= 8; ++step) {
        fill(g, 100 + step, 0.1);
        std::copy(g.values<double>(k).begin(), g.values<double>(k).end(), h.values<double>(0).begin());
        optimizer->step({w, g, states, 0.01, step});
        if (rates[k] > 0) other.step({one, h, few, 0.01 * rates[k], step});
      }
      CHECK(wide(w, k) == wide(one, 0));
    }
  }
}

TEST_CASE("groups that no parameter belongs to, and rates that are none, are refused") {
  CHECK(refusal({{.match = "*.bias"}}) == "none");
  CHECK(refusal({{.match = "*.gain"}}) ==
        "optimizer.groups: no parameter of the network is named like '*.gain'; it has: first.weight, first.bias, "
        "second.weight, second.bias, scale, tall.weight");
  CHECK(cambium::train::detail::betas_problem({0.9, 0.99}).empty());
  CHECK(cambium::train::detail::betas_problem({0.9, 1.0}) ==
        "betas: 1 is no decay rate; give numbers from 0 to below 1");
}
