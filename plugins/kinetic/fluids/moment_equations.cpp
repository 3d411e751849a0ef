#include "plugins/kinetic/fluids/moment_equations.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::kinetic {

namespace {

/// rate += a (rho E + m x B) of the momentum m.
void add_force(const double* q, double a, const MomentEquations::Fields& fields, double* rate) {
  const double *m = q + 1, *e = fields.electric, *b = fields.magnetic;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    rate[1 + i] += a * (q[0] * e[i] + m[j] * b[k] - m[k] * b[j]);
  }
}

class FiveMoments : public MomentEquations {
 public:
  explicit FiveMoments(double gamma) : gamma_(gamma) {}
  int components() const override { return 5; }
  void to_primitive(const double* q, double* w) const override {
    w[0] = q[0];
    double square = 0.0;
    for (int i = 1; i < 4; ++i) {
      w[i] = q[i] / q[0];
      square += q[i] * w[i];
    }
    w[4] = (gamma_ - 1.0) * (q[4] - 0.5 * square);
  }
  void to_conserved(const double* w, double* q) const override {
    q[0] = w[0];
    double square = 0.0;
    for (int i = 1; i < 4; ++i) {
      q[i] = w[0] * w[i];
      square += q[i] * w[i];
    }
    q[4] = w[4] / (gamma_ - 1.0) + 0.5 * square;
  }
  bool physical(const double* w) const override { return w[0] > 0.0 && w[4] > 0.0; }
  void flux(const double* w, int d, double* f) const override {
    double q[5];
    to_conserved(w, q);
    const double u = w[1 + d];
    for (int c = 0; c < 5; ++c) f[c] = u * q[c];
    f[1 + d] += w[4];
    f[4] += u * w[4];
  }
  double sound_speed(const double* w, int) const override { return std::sqrt(gamma_ * w[4] / w[0]); }
  void add_sources(const double* q, double a, const Fields& fields, double* rate) const override {
    add_force(q, a, fields, rate);
    for (int i = 0; i < 3; ++i) rate[4] += a * q[1 + i] * fields.electric[i];
  }
  double relaxation(const double*) const override { return 0.0; }
  bool odd(int component, int d) const override { return component == 1 + d; }
  double energy(const double* q) const override { return q[4]; }
  double pressure(const double* w) const override { return w[4]; }
  double degrees() const override { return 2.0 / (gamma_ - 1.0); }

 private:
  double gamma_;
};

class TenMoments : public MomentEquations {
 public:
  explicit TenMoments(double k0) : k0_(k0) {}
  int components() const override { return 10; }
  void to_primitive(const double* q, double* w) const override { change(q, w, false); }
  void to_conserved(const double* w, double* q) const override { change(w, q, true); }
  bool physical(const double* w) const override {
    const double *p = w + 4, minor = p[0] * p[3] - p[1] * p[1];
    const double determinant =
        p[0] * (p[3] * p[5] - p[4] * p[4]) - p[1] * (p[1] * p[5] - p[4] * p[2]) + p[2] * (p[1] * p[4] - p[3] * p[2]);
    return w[0] > 0.0 && p[0] > 0.0 && minor > 0.0 && determinant > 0.0;
  }
  void flux(const double* w, int d, double* f) const override {
    double q[10];
    to_conserved(w, q);
    const double *u = w + 1, *p = w + 4;
    f[0] = q[1 + d];
    for (int i = 0; i < 3; ++i) f[1 + i] = q[4 + tensor_at[i][d]];
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j)
        f[4 + tensor_at[i][j]] = u[d] * q[4 + tensor_at[i][j]] + u[i] * p[tensor_at[j][d]] + u[j] * p[tensor_at[i][d]];
  }
  double sound_speed(const double* w, int d) const override { return std::sqrt(3.0 * w[4 + tensor_at[d][d]] / w[0]); }
  void add_sources(const double* q, double a, const Fields& fields, double* rate) const override {
    add_force(q, a, fields, rate);
    const double *m = q + 1, *e = fields.electric, *b = fields.magnetic, *s = q + 4;
    const auto turned = [&](int i, int j) {  // eps_ikl Q_kj B_l
      const int k = (i + 1) % 3, l = (i + 2) % 3;
      return s[tensor_at[k][j]] * b[l] - s[tensor_at[l][j]] * b[k];
    };
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j)
        rate[4 + tensor_at[i][j]] += a * (m[i] * e[j] + m[j] * e[i] + turned(i, j) + turned(j, i));
    if (k0_ == 0.0) return;
    double w[10];
    to_primitive(q, w);
    const double speed = relaxation(w), p = pressure(w);
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j) rate[4 + tensor_at[i][j]] -= speed * (w[4 + tensor_at[i][j]] - (i == j ? p : 0.0));
  }
  double relaxation(const double* w) const override { return k0_ == 0.0 ? 0.0 : k0_ * std::sqrt(pressure(w) / w[0]); }
  bool odd(int component, int d) const override {
    if (component < 4) return component == 1 + d;
    for (int i = 0; i < 3; ++i)
      if (i != d && component == 4 + tensor_at[i][d]) return true;
    return false;
  }
  double energy(const double* q) const override { return 0.5 * (q[4] + q[7] + q[9]); }
  double pressure(const double* w) const override { return (w[4] + w[7] + w[9]) / 3.0; }
  double degrees() const override { return 3.0; }

 private:
  /// Between the states, whose tensors differ by rho u_i u_j.
  static void change(const double* from, double* to, bool conserved) {
    const double rho = from[0];
    double u[3];
    to[0] = rho;
    for (int i = 0; i < 3; ++i) {
      u[i] = conserved ? from[1 + i] : from[1 + i] / rho;
      to[1 + i] = conserved ? rho * u[i] : u[i];
    }
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j) {
        const int at = 4 + tensor_at[i][j];
        to[at] = from[at] + (conserved ? rho : -rho) * u[i] * u[j];
      }
  }
  double k0_;
};

}  // namespace

std::unique_ptr<MomentEquations> five_moments(double adiabatic_index) {
  return std::make_unique<FiveMoments>(adiabatic_index);
}
std::unique_ptr<MomentEquations> ten_moments(double k0) { return std::make_unique<TenMoments>(k0); }

void hll_flux(const MomentEquations& equations, const double* left, const double* right, int d, double* flux) {
  constexpr int most = MomentEquations::most;
  const double cl = equations.sound_speed(left, d), cr = equations.sound_speed(right, d);
  const double slow = std::min(left[1 + d] - cl, right[1 + d] - cr),
               fast = std::max(left[1 + d] + cl, right[1 + d] + cr);
  if (slow >= 0.0) return equations.flux(left, d, flux);
  if (fast <= 0.0) return equations.flux(right, d, flux);
  double fl[most], fr[most], ql[most], qr[most];
  equations.flux(left, d, fl);
  equations.flux(right, d, fr);
  equations.to_conserved(left, ql);
  equations.to_conserved(right, qr);
  for (int c = 0; c < equations.components(); ++c)
    flux[c] = (fast * fl[c] - slow * fr[c] + slow * fast * (qr[c] - ql[c])) / (fast - slow);
}

double limited_slope(FluidParams::Limiter limiter, double below, double above) {
  using L = FluidParams::Limiter;
  if (limiter == L::first_order) return 0.0;
  const double central = 0.5 * (below + above);
  if (limiter == L::none) return central;
  if (below * above <= 0.0) return 0.0;
  const double least = std::min(std::abs(below), std::abs(above));
  const double most = limiter == L::minmod ? least : std::min(2.0 * least, std::abs(central));
  return std::copysign(most, central);
}

}  // namespace cambium::kinetic
