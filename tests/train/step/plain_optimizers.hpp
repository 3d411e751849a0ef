#pragma once
// Optimizers beside their formulas in long double: one tensor and what is followed step by step.
#include <cmath>
#include <functional>
#include <vector>

#include "core/train/optimizers/optimizer.hpp"
#include "tests/catch.hpp"
#include "tests/train/buffers.hpp"

namespace cambium::train::testing {

inline Context context() {
  static Comm world(MPI_COMM_SELF);
  static Log silent;
  static Timing timing;
  return Context{world, silent, timing};
}

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

inline std::vector<ParameterInfo> parameters() {
  return {{"first.weight", {7, 5}, true}, {"first.bias", {7}, false}, {"second.weight", {3, 2, 4}, true},
          {"second.bias", {3}, false},    {"scale", {1}, true},       {"tall.weight", {40, 3}, true}};
}

inline Numbers wide(const FlatBuffer& buffer, std::size_t k) {
  const auto values = buffer.values<double>(k);
  return {values.begin(), values.end()};
}

/// 30 steps of both.
inline void follow(Optimizer& optimizer, Real decay, const Oracle& oracle) {
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
inline Numbers product(const Numbers& x, const Numbers& y, std::size_t n, std::size_t m, std::size_t l) {
  Numbers out(n * l, 0.0L);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < l; ++j)
      for (std::size_t k = 0; k < m; ++k) out[i * l + j] += x[i * m + k] * y[k * l + j];
  return out;
}

inline Numbers transposed(const Numbers& x, std::size_t n, std::size_t m) {
  Numbers out(x.size());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < m; ++j) out[j * n + i] = x[i * m + j];
  return out;
}
/// One tensor's step of AdamW; a and b are its states.
inline void adamw_step(Tensor& t, Real beta1, Real beta2, Real eps) {
  for (std::size_t i = 0; i < t.w.size(); ++i) {
    t.a[i] = beta1 * t.a[i] + (1 - beta1) * t.g[i];
    t.b[i] = beta2 * t.b[i] + (1 - beta2) * t.g[i] * t.g[i];
    const Real m = t.a[i] / (1 - std::pow(beta1, static_cast<Real>(t.step)));
    const Real v = t.b[i] / (1 - std::pow(beta2, static_cast<Real>(t.step)));
    t.w[i] = t.w[i] * (1 - t.rate * t.beta) - t.rate * m / (std::sqrt(v) + eps);
  }
}

}  // namespace cambium::train::testing
