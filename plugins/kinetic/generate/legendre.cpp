#include "legendre.hpp"

namespace kinetic_generate {
namespace {

using Polynomial = std::vector<Rational>;  ///< coefficients of 1, xi, xi^2, ...

Polynomial product(const Polynomial& a, const Polynomial& b) {
  Polynomial out(a.size() + b.size() - 1);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) out[i + j] = out[i + j] + a[i] * b[j];
  return out;
}

Rational integral(const Polynomial& p) {
  Rational sum;
  for (std::size_t i = 0; i < p.size(); i += 2) sum = sum + p[i] * Rational(2, static_cast<std::int64_t>(i) + 1);
  return sum;
}

Polynomial slope(const Polynomial& p) {
  Polynomial out{Rational()};
  for (std::size_t i = 1; i < p.size(); ++i) {
    out.resize(i);
    out[i - 1] = p[i] * Rational(static_cast<std::int64_t>(i));
  }
  return out;
}

/// P_n, by n P_n = (2n-1) xi P_{n-1} - (n-1) P_{n-2}.
Polynomial polynomial(int n) {
  Polynomial before{1}, now{0, 1};
  if (n == 0) return before;
  for (int k = 2; k <= n; ++k) {
    Polynomial next = product(now, {0, Rational(2 * k - 1, k)});
    for (std::size_t i = 0; i < before.size(); ++i) next[i] = next[i] + before[i] * Rational(1 - k, k);
    before = now;
    now = next;
  }
  return now;
}

Surd norm(int n) { return {1, Rational(2 * n + 1, 2)}; }

Polynomial power(int k) {
  Polynomial out(static_cast<std::size_t>(k) + 1);
  out.back() = 1;
  return out;
}

}  // namespace

Surd triple_product(int a, int b, int c) {
  return norm(a) * norm(b) * norm(c) * Surd(integral(product(polynomial(a), product(polynomial(b), polynomial(c)))));
}

Surd times_xi(int a, int b) {
  return norm(a) * norm(b) * Surd(integral(product(power(1), product(polynomial(a), polynomial(b)))));
}

Surd derivative(int a, int b) {
  return norm(a) * norm(b) * Surd(integral(product(slope(polynomial(a)), polynomial(b))));
}

Surd edge_value(int n) { return norm(n); }

Surd xi_moment(int k, int n) { return norm(n) * Surd(integral(product(power(k), polynomial(n)))); }

double legendre(int n, double xi) {
  double value = 0.0;
  const auto p = polynomial(n);
  for (std::size_t i = p.size(); i-- > 0;)
    value = value * xi + static_cast<double>(p[i].num) / static_cast<double>(p[i].den);
  return value * norm(n).value();
}

}  // namespace kinetic_generate
