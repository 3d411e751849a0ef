// soap against its formulas in long double, of one side and of both.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/train/optimizers/soap.hpp"
#include "tests/train/step/plain_optimizers.hpp"

using namespace cambium;
using namespace cambium::train;
using namespace cambium::train::testing;

namespace {

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

}  // namespace

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
