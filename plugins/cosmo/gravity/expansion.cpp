#include "plugins/cosmo/gravity/expansion.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::cosmo {

namespace {

constexpr double first_a = 1e-4;  // a cosmological constant is 1e-12 of matter there, dark energy at most 1e-4

}  // namespace

Expansion::Expansion(double omega_m, double w0, double wa) : omega_m_(omega_m), w0_(w0), wa_(wa) {
  today_ = integrate(1.0).d1;
}

double Expansion::dark_energy(double a) const {
  return std::pow(a, -3.0 * (1.0 + w0_ + wa_)) * std::exp(-3.0 * wa_ * (1.0 - a));
}

double Expansion::rate(double a) const {
  const double matter = omega_m_ / (a * a * a);
  if (w0_ == -1.0 && wa_ == 0.0) return std::sqrt(matter + 1.0 - omega_m_);  // keeps the bits of earlier runs
  return std::sqrt(matter + (1.0 - omega_m_) * dark_energy(a));
}

template <class F>
double Expansion::integral(double from, double to, F&& f) const {
  constexpr double place[3] = {0.0, 0.5384693101056830910363144, 0.9061798459386639927976269};
  constexpr double weight[3] = {0.5688888888888888888888889, 0.4786286704993664680412915, 0.2369268850561890875142640};
  const double begin = std::log(from), length = std::log(to) - begin;
  const int panels = std::max(1, static_cast<int>(std::ceil(std::abs(length) / 0.1)));
  const double half = 0.5 * length / panels;
  double sum = 0.0;
  for (int k = 0; k < panels; ++k) {
    const double middle = begin + (2 * k + 1) * half;
    sum += weight[0] * f(std::exp(middle));
    for (int j = 1; j < 3; ++j)
      sum += weight[j] * (f(std::exp(middle - place[j] * half)) + f(std::exp(middle + place[j] * half)));
  }
  return half * sum;
}

// dt = da/(a H), and da = a d ln a.
double Expansion::drift(double from, double to) const {
  return integral(from, to, [this](double a) { return 1.0 / (a * a * rate(a)); });
}

double Expansion::kick(double from, double to) const {
  return integral(from, to, [this](double a) { return 1.0 / (a * rate(a)); });
}

Expansion::Orders Expansion::slope(double log_a, const Orders& y) const {
  const double a = std::exp(log_a), e = rate(a), matter = omega_m_ / (a * a * a * e * e);
  const double stiffness = 1.0 + w0_ + wa_ * (1.0 - a);  // 1 + w
  double friction = 2.0 - 1.5 * matter;                  // 2 + d ln H / d ln a
  if (stiffness != 0.0) friction -= 1.5 * (1.0 - omega_m_) * dark_energy(a) / (e * e) * stiffness;
  return {y.v1, 1.5 * matter * y.d1 - friction * y.v1, y.v2, 1.5 * matter * (y.d2 - y.d1 * y.d1) - friction * y.v2};
}

Expansion::Orders Expansion::integrate(double a) const {
  Orders y{first_a, first_a, -3.0 / 7.0 * first_a * first_a, -6.0 / 7.0 * first_a * first_a};
  const double begin = std::log(first_a), length = std::log(a) - begin;
  const int steps = std::max(1, static_cast<int>(std::ceil(std::abs(length) / 0.005)));
  const double h = length / steps;
  const auto moved = [](const Orders& y, double by, const Orders& k) {
    return Orders{y.d1 + by * k.d1, y.v1 + by * k.v1, y.d2 + by * k.d2, y.v2 + by * k.v2};
  };
  for (int k = 0; k < steps; ++k) {
    const double x = begin + k * h;
    const Orders k1 = slope(x, y), k2 = slope(x + 0.5 * h, moved(y, 0.5 * h, k1));
    const Orders k3 = slope(x + 0.5 * h, moved(y, 0.5 * h, k2)), k4 = slope(x + h, moved(y, h, k3));
    y = moved(moved(moved(moved(y, h / 6.0, k1), h / 3.0, k2), h / 3.0, k3), h / 6.0, k4);
  }
  return y;
}

Growth Expansion::growth(double a) const {
  const Orders y = integrate(a);
  return {y.d1 / today_, y.v1 / y.d1, y.d2 / (today_ * today_), y.v2 / y.d2};
}

}  // namespace cambium::cosmo
