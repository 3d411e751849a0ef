#include "apps/cambium/suite/student.hpp"

#include <cmath>

namespace cambium::train {

/// By Lentz's method; converges quickly for x < (a + 1) / (a + b + 2).
static double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300, enough = 1e-16;
  constexpr int most = 500;
  double c = 1.0, d = 1.0 - (a + b) * x / (a + 1.0);
  d = 1.0 / (std::abs(d) < tiny ? tiny : d);
  double value = d;
  const auto advance = [&](double coefficient) {
    d = 1.0 + coefficient * d;
    c = 1.0 + coefficient / c;
    d = 1.0 / (std::abs(d) < tiny ? tiny : d);
    c = std::abs(c) < tiny ? tiny : c;
    value *= c * d;
    return std::abs(c * d - 1.0);
  };
  for (int k = 1; k < most; ++k) {
    const double m = k;
    advance(m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)));
    if (advance(-(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))) < enough) break;
  }
  return value;
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0.0) return 0.0;
  if (x >= 1.0) return 1.0;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1.0) / (a + b + 2.0) ? front * beta_fraction(a, b, x) / a
                                       : 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}

double student_cdf(double t, double freedom) {
  const double tail = 0.5 * incomplete_beta(0.5 * freedom, 0.5, freedom / (freedom + t * t));
  return t < 0.0 ? tail : 1.0 - tail;
}

}  // namespace cambium::train
