#include "plugins/kinetic/fields/fourier.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/constants.hpp"
#include "core/base/counts.hpp"

namespace cambium::kinetic {

using Complex = Fourier::Complex;

/// Without the test for infinities of the standard's product, which keeps a loop from being vectorised.
static Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// plus = a + b, minus = w (a - b).
static void butterflies(const Complex* a, const Complex* b, Complex w, std::size_t count, Complex* plus,
                        Complex* minus) {
  for (std::size_t k = 0; k < count; ++k) {
    const Complex difference = a[k] - b[k];
    plus[k] = a[k] + b[k];
    minus[k] = times(w, difference);
  }
}

Fourier::Fourier(int n) : n_(n) {
  for (int left = n, factor = 2; left > 1; ++factor)
    for (; left % factor == 0; left /= factor) factors_.push_back(factor);
  for (int j = 0; j < n; ++j) root_.push_back(std::polar(1.0, 2.0 * constants::pi * j / n));
}

/// For sums over `remaining` = factor m elements, `apart` from each other: out_(factor p + k) = w^(p k) sum_r in_(p + m
/// r) exp(sign 2 pi i r k / factor) with w = exp(sign 2 pi i / remaining).
void Fourier::pass(const Complex* in, Complex* out, int factor, int remaining, std::size_t apart, int sign) const {
  const int m = remaining / factor;
  const auto root = [&](std::int64_t numerator, int denominator) {  // exp(sign 2 pi i numerator / denominator)
    const Complex z = root_[at(numerator % denominator * (n_ / denominator))];
    return sign < 0 ? std::conj(z) : z;
  };
  for (int p = 0; p < m; ++p) {
    const Complex* const from = in + at(p) * apart;
    Complex* const to = out + at(p) * at(factor) * apart;
    if (factor == 2) {
      butterflies(from, from + at(m) * apart, root(p, remaining), apart, to, to + apart);
      continue;
    }
    for (int k = 0; k < factor; ++k) {
      Complex* const sum = to + at(k) * apart;
      std::copy_n(from, apart, sum);
      for (int r = 1; r < factor; ++r) {
        const Complex w = root(std::int64_t{r} * k, factor);
        for (std::size_t q = 0; q < apart; ++q) sum[q] += times(w, from[at(m) * at(r) * apart + q]);
      }
      const Complex w = root(std::int64_t{p} * k, remaining);
      for (std::size_t q = 0; q < apart; ++q) sum[q] = times(w, sum[q]);
    }
  }
}

void Fourier::operator()(Complex* values, int lines, std::ptrdiff_t stride, int sign) const {
  std::vector<Complex> here(at(n_) * at(lines)), there(here.size());
  for (int j = 0; j < n_; ++j) std::copy_n(values + j * stride, lines, here.begin() + std::ptrdiff_t{j} * lines);
  int remaining = n_;
  auto apart = at(lines);
  for (const int factor : factors_) {
    pass(here.data(), there.data(), factor, remaining, apart, sign);
    std::swap(here, there);
    remaining /= factor;
    apart *= at(factor);
  }
  for (int j = 0; j < n_; ++j) std::copy_n(here.begin() + std::ptrdiff_t{j} * lines, lines, values + j * stride);
}

}  // namespace cambium::kinetic
