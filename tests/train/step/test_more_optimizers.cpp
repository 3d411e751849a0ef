// rmsprop, nadam, lion, muon, schedule_free_adamw and lbfgs against their formulas in
// long double.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/train/optimizers/lbfgs.hpp"
#include "core/train/optimizers/lion.hpp"
#include "core/train/optimizers/muon.hpp"
#include "core/train/optimizers/nadam.hpp"
#include "core/train/optimizers/rmsprop.hpp"
#include "core/train/optimizers/schedule_free.hpp"
#include "tests/train/step/plain_optimizers.hpp"

using namespace cambium;
using namespace cambium::train;
using namespace cambium::train::testing;

namespace {

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

/// torch.optim.LBFGS with max_iter = 1 on one vector.
struct PlainLbfgs {
  std::size_t history;
  Numbers before, step;
  std::vector<Numbers> s, y;
  static Real dot(const Numbers& a, const Numbers& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0L);
  }
  void advance(Numbers& w, const Numbers& g, Real rate) {
    Numbers d(g.size());
    for (std::size_t i = 0; i < g.size(); ++i) d[i] = -g[i];
    Real scale = 1;
    if (before.empty()) {
      Real sum = 0;
      for (const Real x : g) sum += std::abs(x);
      rate *= std::min(1.0L, 1 / sum);
    } else {
      Numbers change(g.size());
      for (std::size_t i = 0; i < g.size(); ++i) change[i] = g[i] - before[i];
      if (dot(change, step) > 1e-10L) {
        y.push_back(change), s.push_back(step);
        if (y.size() > history) y.erase(y.begin()), s.erase(s.begin());
      }
      if (!y.empty()) scale = dot(y.back(), s.back()) / dot(y.back(), y.back());
      std::vector<Real> along(y.size());
      for (std::size_t k = y.size(); k-- > 0;) {
        along[k] = dot(s[k], d) / dot(y[k], s[k]);
        for (std::size_t i = 0; i < d.size(); ++i) d[i] -= along[k] * y[k][i];
      }
      for (Real& x : d) x *= scale;
      for (std::size_t k = 0; k < y.size(); ++k) {
        const Real back = dot(y[k], d) / dot(y[k], s[k]);
        for (std::size_t i = 0; i < d.size(); ++i) d[i] += s[k][i] * (along[k] - back);
      }
    }
    if (dot(g, d) > -1e-9L) rate = 0;
    before = g;
    step = d;
    for (std::size_t i = 0; i < w.size(); ++i) step[i] *= rate, w[i] += step[i];
  }
};

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

TEST_CASE("schedule_free_adamw: gradients at y, the mean x is served") {
  auto ctx = context();
  ScheduleFreeAdamW optimizer({.beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-6, .weight_decay = 0.1}, ctx);
  const FlatLayout layout(parameters(), 60);
  FlatBuffer weights(layout, DType::f64), gradients(layout, DType::f64);
  fill(weights, 1, 0.5);
  auto states = make_states(optimizer, layout, DType::f64);
  optimizer.start(weights, states);
  REQUIRE(optimizer.states(DType::f64)[optimizer.served_state().value()].name == "averaged");
  std::vector<Numbers> y, z, x, v;
  for (std::size_t k = 0; k < layout.tensors().size(); ++k) {
    y.push_back(wide(weights, k));
    v.emplace_back(y.back().size(), 0.0L);
  }
  z = x = y;
  Real sum = 0;
  for (int step = 1; step <= 30; ++step) {
    fill(gradients, 100 + step, 0.1);
    const double rate = 0.01 * std::min(1.0, step / 10.0);
    if (step == 17) {  // as a resumed run does
      ScheduleFreeAdamW later({.beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-6, .weight_decay = 0.1}, ctx);
      later.take(optimizer.kept());
      optimizer = later;
    }
    optimizer.step({weights, gradients, states, rate, step});
    const Real own = rate * std::sqrt(1 - std::pow(0.95L, static_cast<Real>(step)));
    sum += own * own;
    for (std::size_t k = 0; k < y.size(); ++k) {
      const Numbers g = wide(gradients, k);
      const Real beta = layout.tensors()[k].info.decay ? 0.1L : 0.0L;
      for (std::size_t i = 0; i < g.size(); ++i) {
        v[k][i] = 0.95L * v[k][i] + 0.05L * g[i] * g[i];
        z[k][i] -= own * (g[i] / (std::sqrt(v[k][i]) + 1e-6L) + beta * y[k][i]);
        x[k][i] += own * own / sum * (z[k][i] - x[k][i]);
        y[k][i] = 0.2L * z[k][i] + 0.8L * x[k][i];
        const auto close = [&](const FlatBuffer& buffer, Real value) {
          REQUIRE(buffer.values<double>(k)[i] == Approx(static_cast<double>(value)).epsilon(1e-12).margin(1e-13));
        };
        close(weights, y[k][i]);
        close(states[1], x[k][i]);
      }
    }
  }
}

TEST_CASE("lbfgs: the two-loop recursion of the last steps, over all tensors") {
  auto ctx = context();
  const std::int64_t history = 3;
  Lbfgs optimizer({.history = history}, ctx);
  CHECK_FALSE(optimizer.by_tensor());
  const FlatLayout layout(parameters(), 60);
  FlatBuffer weights(layout, DType::f64), gradients(layout, DType::f64), scales(layout, DType::f64);
  fill(weights, 1, 0.5);
  fill(scales, 2, 0.2);
  auto states = make_states(optimizer, layout, DType::f64);
  CHECK(states.size() == 2 + 2 * history);
  PlainLbfgs plain{static_cast<std::size_t>(history), {}, {}, {}, {}};
  const auto all = [&](const FlatBuffer& buffer) {
    Numbers out;
    for (std::size_t k = 0; k < layout.tensors().size(); ++k)
      for (const Real x : wide(buffer, k)) out.push_back(x);
    return out;
  };
  Numbers w = all(weights);
  double first = 0.0, last = 0.0;
  for (int step = 1; step <= 20; ++step) {
    if (step == 6) {  // as a resumed run does
      Lbfgs later({.history = history}, ctx);
      later.take(optimizer.kept());
      optimizer = later;
    }
    // Gradient of sum of a w^2 / 2 + w^4 / 4.
    for (std::size_t k = 0; k < layout.tensors().size(); ++k)
      for (std::size_t i = 0; i < weights.values<double>(k).size(); ++i) {
        const double x = weights.values<double>(k)[i], a = 1.5 + scales.values<double>(k)[i];
        gradients.values<double>(k)[i] = a * x + x * x * x;
      }
    last = 0.0;
    for (const Real x : all(gradients)) last += static_cast<double>(x * x);
    if (step == 1) first = last;
    plain.advance(w, all(gradients), step < 4 ? 0.5L : 1.0L);
    optimizer.step({weights, gradients, states, step < 4 ? 0.5 : 1.0, step});
    const Numbers now = all(weights);
    for (std::size_t i = 0; i < w.size(); ++i)
      REQUIRE(static_cast<double>(now[i]) == Approx(static_cast<double>(w[i])).epsilon(1e-9).margin(1e-10));
  }
  CHECK(last < 1e-6 * first);
}
