// rmsprop, nadam, lion, muon, schedule_free_adamw, soap and lbfgs against their formulas in
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
#include "core/train/optimizers/soap.hpp"
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
/// Weights, gradient, four states, step, rate, weight decay of one tensor of a shape.
struct Tensor {
  Numbers w, g, a, b, c, d;
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
    plain.push_back({w, zero, zero, zero, zero, zero, layout.tensors()[k].info.shape});
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

/// Eigenvectors of a symmetric matrix by cyclic Jacobi rotations, rows in the order of falling eigenvalues.
Numbers jacobi(Numbers a, std::size_t n) {
  Numbers v(n * n, 0.0L);
  for (std::size_t i = 0; i < n; ++i) v[i * n + i] = 1;
  for (int sweep = 0; sweep < 40; ++sweep)
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        const Real phi = 0.5L * std::atan2(2 * a[p * n + q], a[q * n + q] - a[p * n + p]);
        const Real c = std::cos(phi), s = std::sin(phi);
        const auto turn = [&](Real& x, Real& y) {
          const Real old = x;
          x = c * old - s * y;
          y = s * old + c * y;
        };
        for (std::size_t k = 0; k < n; ++k) turn(a[k * n + p], a[k * n + q]);
        for (std::size_t k = 0; k < n; ++k) turn(a[p * n + k], a[q * n + k]);
        for (std::size_t k = 0; k < n; ++k) turn(v[p * n + k], v[q * n + k]);
      }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](auto i, auto j) { return a[i * n + i] > a[j * n + j]; });
  Numbers out;
  for (const auto i : order) out.insert(out.end(), v.begin() + i * n, v.begin() + (i + 1) * n);
  return out;
}

/// Rows that are orthonormal and span what the first ones of `x` span.
Numbers orthonormal(Numbers x, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t k = 0; k < j; ++k) {
        Real along = 0;
        for (std::size_t i = 0; i < n; ++i) along += x[j * n + i] * x[k * n + i];
        for (std::size_t i = 0; i < n; ++i) x[j * n + i] -= along * x[k * n + i];
      }
    Real square = 0;
    for (std::size_t i = 0; i < n; ++i) square += x[j * n + i] * x[j * n + i];
    for (std::size_t i = 0; i < n; ++i) x[j * n + i] /= std::sqrt(square);
  }
  return x;
}

/// One tensor's step of AdamW; a and b are its states.
void adamw_step(Tensor& t, Real beta1, Real beta2, Real eps) {
  for (std::size_t i = 0; i < t.w.size(); ++i) {
    t.a[i] = beta1 * t.a[i] + (1 - beta1) * t.g[i];
    t.b[i] = beta2 * t.b[i] + (1 - beta2) * t.g[i] * t.g[i];
    const Real m = t.a[i] / (1 - std::pow(beta1, static_cast<Real>(t.step)));
    const Real v = t.b[i] / (1 - std::pow(beta2, static_cast<Real>(t.step)));
    t.w[i] = t.w[i] * (1 - t.rate * t.beta) - t.rate * m / (std::sqrt(v) + eps);
  }
}

/// Of a matrix n x m with n <= m; c is the preconditioner, d its eigenbasis, rows as vectors.
void soap_step(Tensor& t, std::size_t n, Real beta1, Real beta2, Real beta3, Real eps, int refresh) {
  const std::size_t m = t.w.size() / n;
  const auto add = [&] {
    const Numbers gg = product(t.g, transposed(t.g, n, m), n, m, n);
    for (std::size_t i = 0; i < n * n; ++i) t.c[i] = beta3 * t.c[i] + (1 - beta3) * gg[i];
  };
  if (t.step == 1) {
    t.c.assign(n * n, 0.0L);
    add();
    t.d = jacobi(t.c, n);
  }
  for (std::size_t i = 0; i < t.w.size(); ++i) t.a[i] = beta1 * t.a[i] + (1 - beta1) * t.g[i];
  const Numbers g = product(t.d, t.g, n, n, m);
  Numbers mean = product(t.d, t.a, n, n, m);
  for (std::size_t i = 0; i < t.w.size(); ++i) {
    t.b[i] = beta2 * t.b[i] + (1 - beta2) * g[i] * g[i];
    mean[i] /= 1 - std::pow(beta1, static_cast<Real>(t.step));
    mean[i] /= std::sqrt(t.b[i] / (1 - std::pow(beta2, static_cast<Real>(t.step)))) + eps;
  }
  const Numbers back = product(transposed(t.d, n, n), mean, n, n, m);
  for (std::size_t i = 0; i < t.w.size(); ++i) t.w[i] = t.w[i] * (1 - t.rate * t.beta) - t.rate * back[i];
  if (t.step == 1) return;
  add();
  if (t.step % refresh != 0) return;
  Real trace = 0;
  for (std::size_t i = 0; i < n; ++i) trace += t.c[i * n + i];
  Numbers turned = product(t.d, t.c, n, n, n);
  for (std::size_t i = 0; i < n * n; ++i) turned[i] += 1e-9L * trace / static_cast<Real>(n) * t.d[i];
  t.d = orthonormal(turned, n);
}

/// A basis of the eigenvectors of `gram`, whatever it is where eigenvalues are equal (a side longer than the other has
/// none but zeros there).
void require_eigenbasis(const Numbers& q, const Numbers& gram, std::size_t n) {
  const Numbers one = product(q, transposed(q, n, n), n, n, n);
  const Numbers inside = product(product(q, gram, n, n, n), transposed(q, n, n), n, n, n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      REQUIRE(std::abs(static_cast<double>(one[i * n + j]) - (i == j)) < 1e-12);
      if (i != j) REQUIRE(std::abs(static_cast<double>(inside[i * n + j])) < 1e-12);
    }
}

/// One step of Algorithm 3 of Vyas et al. on n x m, betas 0.8, 0.9 and 0.7 and eps 1e-6; c and d belong to the rows.
/// `first` gives the eigenbases of the first step, of rows or columns.
void two_sided_step(Tensor& t, Numbers& right, Numbers& basis, std::size_t n, std::size_t m, int refresh,
                    const std::function<Numbers(bool rows)>& first) {
  const Numbers turned_g = transposed(t.g, n, m);
  const auto add = [](Numbers& gram, const Numbers& gg) {
    gram.resize(gg.size());
    for (std::size_t i = 0; i < gg.size(); ++i) gram[i] = 0.7L * gram[i] + 0.3L * gg[i];
  };
  const auto add_both = [&] {
    add(t.c, product(t.g, turned_g, n, m, n));
    add(right, product(turned_g, t.g, m, n, m));
  };
  if (t.step == 1) {
    add_both();
    t.d = first(true), basis = first(false);
    require_eigenbasis(t.d, t.c, n);
    require_eigenbasis(basis, right, m);
  }
  const auto inwards = [&](const Numbers& x) {
    return product(product(t.d, x, n, n, m), transposed(basis, m, m), n, m, m);
  };
  for (std::size_t i = 0; i < t.w.size(); ++i) t.a[i] = 0.8L * t.a[i] + 0.2L * t.g[i];
  const Numbers g = inwards(t.g);
  Numbers mean = inwards(t.a);
  for (std::size_t i = 0; i < t.w.size(); ++i) {
    t.b[i] = 0.9L * t.b[i] + 0.1L * g[i] * g[i];
    mean[i] /= 1 - std::pow(0.8L, static_cast<Real>(t.step));
    mean[i] /= std::sqrt(t.b[i] / (1 - std::pow(0.9L, static_cast<Real>(t.step)))) + 1e-6L;
  }
  const Numbers back = product(product(transposed(t.d, n, n), mean, n, n, m), basis, n, m, m);
  for (std::size_t i = 0; i < t.w.size(); ++i) t.w[i] = t.w[i] * (1 - t.rate * t.beta) - t.rate * back[i];
  if (t.step == 1) return;
  add_both();
  if (t.step % refresh != 0) return;
  const auto turn = [](Numbers& q, const Numbers& gram, std::size_t size) {
    Real trace = 0;
    for (std::size_t i = 0; i < size; ++i) trace += gram[i * size + i];
    Numbers out = product(q, gram, size, size, size);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += 1e-9L * trace / static_cast<Real>(size) * q[i];
    q = orthonormal(out, size);
  };
  turn(t.d, t.c, n);
  turn(basis, right, m);
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

TEST_CASE("soap: adam in the eigenbasis of the smaller side") {
  auto ctx = context();
  Soap soap({.betas = {0.8, 0.9}, .shampoo_beta = 0.7, .eps = 1e-6, .weight_decay = 0.1, .refresh = 4, .most_ratio = 0},
            ctx);
  follow(soap, 0.1L, [&](Tensor& t) {
    if (t.shape.size() < 2) return adamw_step(t, 0.8L, 0.9L, 1e-6L);
    const auto rows = static_cast<std::size_t>(t.shape[0]), columns = t.w.size() / rows;
    const bool wide = rows <= columns;
    const auto turn = [&](Numbers& x, std::size_t n, std::size_t m) { x = wide ? x : transposed(x, n, m); };
    for (Numbers* x : {&t.w, &t.g, &t.a, &t.b}) turn(*x, rows, columns);
    soap_step(t, std::min(rows, columns), 0.8L, 0.9L, 0.7L, 1e-6L, 4);
    for (Numbers* x : {&t.w, &t.g, &t.a, &t.b}) turn(*x, columns, rows);
  });
  Soap short_sides({.betas = {0.8, 0.9}, .eps = 1e-6, .weight_decay = 0.1, .longest = 1}, ctx);
  follow(short_sides, 0.1L, [&](Tensor& t) { adamw_step(t, 0.8L, 0.9L, 1e-6L); });
}

TEST_CASE("soap: adam in the eigenbases of both sides") {
  auto ctx = context();
  const std::size_t ratio = 3, steps = 30;
  Soap soap(
      {.betas = {0.8, 0.9}, .shampoo_beta = 0.7, .eps = 1e-6, .weight_decay = 0.1, .refresh = 4, .most_ratio = 2.5},
      ctx);
  const FlatLayout layout({{"square", {6, 6}, true}, {"wide", {3, 2, 4}, true}, {"tall", {9, 5}, true}}, 60);
  FlatBuffer weights(layout, DType::f64), gradients(layout, DType::f64);
  fill(weights, 1, 0.5);
  auto states = make_states(soap, layout, DType::f64);
  REQUIRE(states.size() == 4 + 2 * ratio);
  std::vector<Tensor> plain;
  for (std::size_t k = 0; k < layout.tensors().size(); ++k) {
    const Numbers w = wide(weights, k), zero(w.size(), 0.0L);
    plain.push_back({w, zero, zero, zero, {}, {}, layout.tensors()[k].info.shape, 0, 0, 0.1L});
  }
  std::vector<Numbers> right(plain.size()), basis(plain.size());
  for (int step = 1; step <= static_cast<int>(steps); ++step) {
    fill(gradients, 100 + step, 0.1);
    const double rate = 0.01 / step;
    soap.step({weights, gradients, states, rate, step});
    for (std::size_t k = 0; k < plain.size(); ++k) {
      Tensor& t = plain[k];
      t.g = wide(gradients, k), t.step = step, t.rate = rate;
      const auto n = static_cast<std::size_t>(t.shape[0]), m = t.w.size() / n;
      // What a state holds of the longer side goes on in the next one.
      const auto stored = [&](std::size_t shorter_at, std::size_t longer_at, bool rows) {
        const std::size_t length = rows ? n : m, first = rows == (n <= m) ? shorter_at : longer_at;
        Numbers out;
        for (std::size_t s = first; out.size() < length * length; ++s)
          for (const Real x : wide(states[s], k)) out.push_back(x);
        out.resize(length * length);
        return out;
      };
      two_sided_step(t, right[k], basis[k], n, m, 4, [&](bool rows) { return stored(3, 4 + ratio, rows); });
      for (std::size_t i = 0; i < t.w.size(); ++i)
        REQUIRE(weights.values<double>(k)[i] == Approx(static_cast<double>(t.w[i])).epsilon(1e-10).margin(1e-11));
    }
  }
}

TEST_CASE("soap: bases of matrices without full rank stay orthonormal") {
  const std::size_t n = 6;
  std::vector<double> matrix(n * n, 0.0), none(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) matrix[i * n + j] = (1.0 + i) * (1.0 + j) + (i == j && i < 2 ? 1e-3 : 0.0);
  auto basis = ordered_eigenvectors(6, matrix);
  const auto first = basis;
  turn_basis(6, none, basis);
  CHECK(basis == first);
  for (int turn = 0; turn < 5; ++turn) turn_basis(6, matrix, basis);
  const Numbers q(basis.begin(), basis.end()), qq = product(q, transposed(q, n, n), n, n, n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) CHECK(std::abs(static_cast<double>(qq[i * n + j]) - (i == j)) < 1e-14);
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
