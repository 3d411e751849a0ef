#include "plugins/mace/model/coupling.hpp"

#include <cmath>
#include <complex>

namespace cambium::mace {
namespace {

double factorial(int n) { return std::tgamma(n + 1.0); }

/// <l1 m1 l2 m2 | l3 m1+m2>
double clebsch_gordan(int l1, int m1, int l2, int m2, int l3) {
  const int m3 = m1 + m2;
  const double front = std::sqrt((2 * l3 + 1) * factorial(l3 + l1 - l2) * factorial(l3 - l1 + l2) *
                                 factorial(l1 + l2 - l3) / factorial(l1 + l2 + l3 + 1)) *
                       std::sqrt(factorial(l3 + m3) * factorial(l3 - m3) * factorial(l1 - m1) * factorial(l1 + m1) *
                                 factorial(l2 - m2) * factorial(l2 + m2));
  double sum = 0.0;
  for (int k = 0; k <= l1 + l2 - l3; ++k) {
    const int terms[] = {l1 + l2 - l3 - k, l1 - m1 - k, l2 + m2 - k, l3 - l2 + m1 + k, l3 - l1 - m2 + k};
    double product = factorial(k);
    bool inside = true;
    for (const int t : terms) {
      inside = inside && t >= 0;
      if (inside) product *= factorial(t);
    }
    if (inside) sum += (k % 2 ? -1.0 : 1.0) / product;
  }
  return front * sum;
}

using Complex = std::complex<double>;

/// Rows: complex harmonics of m = -l..l; columns: real ones; with the phase (-i)^l that makes couplings real.
std::vector<Complex> real_to_complex(int l) {
  const int n = 2 * l + 1;
  std::vector<Complex> q(static_cast<std::size_t>(n * n));
  const double h = 1.0 / std::sqrt(2.0);
  q[l * n + l] = 1.0;
  for (int m = 1; m <= l; ++m) {
    const double sign = m % 2 ? -1.0 : 1.0;
    q[(l - m) * n + l + m] = h;
    q[(l - m) * n + l - m] = Complex(0.0, -h);
    q[(l + m) * n + l + m] = sign * h;
    q[(l + m) * n + l - m] = Complex(0.0, sign * h);
  }
  Complex phase = 1.0;
  for (int k = 0; k < l; ++k) phase *= Complex(0.0, -1.0);
  for (auto& value : q) value *= phase;
  return q;
}

}  // namespace

std::vector<double> wigner_3j(int l1, int l2, int l3) {
  const int n1 = 2 * l1 + 1, n2 = 2 * l2 + 1, n3 = 2 * l3 + 1;
  std::vector<double> out(static_cast<std::size_t>(n1 * n2 * n3), 0.0);
  const auto q1 = real_to_complex(l1), q2 = real_to_complex(l2), q3 = real_to_complex(l3);
  for (int m1 = -l1; m1 <= l1; ++m1)
    for (int m2 = -l2; m2 <= l2; ++m2) {
      const int m3 = m1 + m2;
      if (std::abs(m3) > l3) continue;
      const double c = clebsch_gordan(l1, m1, l2, m2, l3);
      for (int a = 0; a < n1; ++a)
        for (int b = 0; b < n2; ++b)
          for (int d = 0; d < n3; ++d)
            out[(a * n2 + b) * n3 + d] +=
                c * std::real(q1[(l1 + m1) * n1 + a] * q2[(l2 + m2) * n2 + b] * std::conj(q3[(l3 + m3) * n3 + d]));
    }
  double norm = 0.0;
  for (const double value : out) norm += value * value;
  for (double& value : out) value = std::abs(value) < 1e-14 ? 0.0 : value / std::sqrt(norm);
  return out;
}

void spherical_harmonics(int lmax, const double n[3], double* y, double (*gradient)[3]) {
  const double x = n[2], u = n[0], z = n[1];  // e3nn's polar axis is y: (z, x, y) take the parts of (x, y, z)
  double c = 1.0, s = 0.0, c_before = 0.0, s_before = 0.0;  // real and imaginary part of (x + i u)^m, and of m - 1
  double start = 1.0;                                       // (2m - 1)!!
  for (int m = 0; m <= lmax; ++m) {
    double q[2] = {0.0, start}, dq[2] = {0.0, 0.0};  // of degrees l - 1 and l: m-th derivative of P_l with respect to z
    for (int l = m; l <= lmax; ++l) {
      double ratio = 1.0;
      for (int k = l - m + 1; k <= l + m; ++k) ratio *= k;
      const double norm = std::sqrt((m ? 2.0 : 1.0) * (2 * l + 1) / ratio);
      const int centre = l * l + l;
      y[centre + m] = norm * q[1] * c;
      if (m) y[centre - m] = norm * q[1] * s;
      if (gradient) {
        const double to_x = norm * q[1] * m, to_z = norm * dq[1];
        const double even[3] = {-to_x * s_before, to_z * c, to_x * c_before};
        const double odd[3] = {to_x * c_before, to_z * s, to_x * s_before};
        for (int k = 0; k < 3; ++k) {
          gradient[centre + m][k] = even[k];
          if (m) gradient[centre - m][k] = odd[k];
        }
      }
      const double next = ((2 * l + 1) * z * q[1] - (l + m) * q[0]) / (l - m + 1);
      const double dnext = ((2 * l + 1) * (q[1] + z * dq[1]) - (l + m) * dq[0]) / (l - m + 1);
      q[0] = q[1], q[1] = next;
      dq[0] = dq[1], dq[1] = dnext;
    }
    c_before = c, s_before = s;
    const double c_next = x * c - u * s;
    s = x * s + u * c;
    c = c_next;
    start *= 2 * m + 1;
  }
  if (!gradient) return;
  for (int k = 0; k < (lmax + 1) * (lmax + 1); ++k) {
    const double along = gradient[k][0] * n[0] + gradient[k][1] * n[1] + gradient[k][2] * n[2];
    for (int a = 0; a < 3; ++a) gradient[k][a] -= along * n[a];
  }
}

}  // namespace cambium::mace
