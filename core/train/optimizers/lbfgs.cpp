#include "core/train/optimizers/lbfgs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/train/optimizers/for_each_number.hpp"

namespace cambium::train {

namespace {

constexpr std::size_t last_gradient = 0, last_step = 1, history = 2;

/// Dot product in fixed order on one thread.
template <class T>
double product(std::span<const T> a, std::span<const T> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

template <class T>
void add(std::span<T> to, double factor, std::span<const T> x) {
  const T f = static_cast<T>(factor);
  detail::for_each_number(to.size(), [&](std::size_t i) { to[i] = std::fma(f, x[i], to[i]); });
}

}  // namespace

std::vector<Optimizer::StateInfo> Lbfgs::states(DType weights) const {
  std::vector<StateInfo> out{{"gradient", weights}, {"step", weights}};
  for (std::int64_t k = 0; k < params_.history; ++k)
    for (const char* name : {"difference", "step"}) out.push_back({fmt::format("{}_{}", name, k), weights});
  return out;
}

void Lbfgs::take(std::span<const double> kept) {
  if (kept.size() != 2) return;
  pairs_ = static_cast<std::int64_t>(kept[0]);
  scale_ = kept[1];
}

/// The last step and the change of the gradient along it.
template <class T>
void Lbfgs::remember(const Update& u) {
  constexpr double least = 1e-10;
  const std::span<const T> g = u.gradients.values<T>(), before = u.states[last_gradient].values<T>(),
                           s = u.states[last_step].values<T>();
  std::vector<T> y(g.size());
  detail::for_each_number(y.size(), [&](std::size_t i) { y[i] = g[i] - before[i]; });
  const double curvature = product<T>(y, s);
  if (!(curvature > least)) return;
  scale_ = curvature / product<T>(y, y);
  const auto place = history + 2 * static_cast<std::size_t>(pairs_++ % params_.history);
  std::copy(y.begin(), y.end(), u.states[place].values<T>().begin());
  std::copy(s.begin(), s.end(), u.states[place + 1].values<T>().begin());
}

/// -H g by the two-loop recursion.
template <class T>
std::vector<T> Lbfgs::direction(const Update& u) const {
  const std::span<const T> g = u.gradients.values<T>();
  std::vector<T> q(g.size());
  std::transform(g.begin(), g.end(), q.begin(), [](T x) { return -x; });
  const std::int64_t first = std::max<std::int64_t>(0, pairs_ - params_.history);
  const auto pair = [&](std::int64_t k, std::size_t which) -> std::span<const T> {
    return u.states[history + 2 * static_cast<std::size_t>(k % params_.history) + which].values<T>();
  };
  std::vector<double> along(static_cast<std::size_t>(pairs_ - first));
  for (std::int64_t k = pairs_ - 1; k >= first; --k) {
    const auto y = pair(k, 0), s = pair(k, 1);
    auto& a = along[static_cast<std::size_t>(k - first)];
    a = product<T>(s, q) / product<T>(y, s);
    add<T>(q, -a, y);
  }
  const T scale = static_cast<T>(scale_);
  detail::for_each_number(q.size(), [&](std::size_t i) { q[i] *= scale; });
  for (std::int64_t k = first; k < pairs_; ++k) {
    const auto y = pair(k, 0), s = pair(k, 1);
    add<T>(q, along[static_cast<std::size_t>(k - first)] - product<T>(y, q) / product<T>(y, s), s);
  }
  return q;
}

template <class T>
void Lbfgs::step_in(const Update& u) {
  constexpr double descends = -1e-9;
  if (u.step > 1) remember<T>(u);
  auto d = direction<T>(u);
  const std::span<const T> g = u.gradients.values<T>();
  double rate = u.rate;
  if (u.step == 1) {
    double sum = 0.0;
    for (const T x : g) sum += std::abs(static_cast<double>(x));
    if (sum > 1.0) rate /= sum;
  }
  const bool made = product<T>(g, d) <= descends;
  const T length = static_cast<T>(made ? rate : 0.0);
  const auto w = u.weights.values<T>(), s = u.states[last_step].values<T>(),
             before = u.states[last_gradient].values<T>();
  detail::for_each_number(d.size(), [&](std::size_t i) {
    s[i] = length * d[i];
    w[i] += s[i];
    before[i] = g[i];
  });
}

void Lbfgs::step(const Update& u) {
  with_real(u.weights.dtype(), [&]<class T>() { step_in<T>(u); });
}

std::vector<Citation> Lbfgs::citations() const {
  return {{"liu1989lbfgs", R"(@article{liu1989lbfgs,
  author = {Liu, Dong C. and Nocedal, Jorge},
  title = {On the limited memory {BFGS} method for large scale optimization},
  journal = {Mathematical Programming},
  volume = {45},
  pages = {503--528},
  year = {1989}
})"}};
}

}  // namespace cambium::train
