#pragma once
#include <cmath>

namespace cambium::md {

/// Invariants of the sums S_lm = sum_j g(r_ij) Y_lm of one angular function, with orthonormal real harmonics in the
/// order of Harmonics: for every degree the power spectrum sum_m S_lm^2; for degree 2 the product of three with
/// Wigner's symbol (2 2 2; m m' m''), for degree 1 that of four, 7/15 (sum_m S_1m^2)^2.
struct AngularTerms {
  int l_max;
  bool fourth, fifth;

  int count() const { return l_max + (fourth ? 1 : 0) + (fifth ? 1 : 0); }

  /// q: count() values, `stride` apart.
  void invariants(const double* s, double* q, int stride) const {
    for (int l = 1; l <= l_max; ++l) {
      double sum = 0.0;
      for (int k = l * l - 1; k < (l + 1) * (l + 1) - 1; ++k) sum += s[k] * s[k];
      q[(l - 1) * stride] = sum;
    }
    double* next = q + l_max * stride;
    if (fourth) {
      const double a = s[3], c1 = s[4], s1 = s[5], c2 = s[6], s2 = s[7];
      *next = wigner() * (a * a * a + 1.5 * a * (c1 * c1 + s1 * s1) - 3.0 * a * (c2 * c2 + s2 * s2) +
                          mixed() * (0.5 * c2 * (c1 * c1 - s1 * s1) + c1 * s1 * s2));
      next += stride;
    }
    if (fifth) *next = 7.0 / 15.0 * q[0] * q[0];
  }

  /// Adds to w the derivatives with respect to s of the invariants times `by` (count() values, `stride` apart).
  void add_gradient(const double* s, const double* by, int stride, double* w) const {
    for (int l = 1; l <= l_max; ++l)
      for (int k = l * l - 1; k < (l + 1) * (l + 1) - 1; ++k) w[k] += 2.0 * by[(l - 1) * stride] * s[k];
    const double* next = by + l_max * stride;
    if (fourth) {
      const double a = s[3], c1 = s[4], s1 = s[5], c2 = s[6], s2 = s[7], b = wigner() * *next;
      w[3] += b * (3.0 * a * a + 1.5 * (c1 * c1 + s1 * s1) - 3.0 * (c2 * c2 + s2 * s2));
      w[4] += b * (3.0 * a * c1 + mixed() * (c2 * c1 + s1 * s2));
      w[5] += b * (3.0 * a * s1 + mixed() * (c1 * s2 - c2 * s1));
      w[6] += b * (-6.0 * a * c2 + mixed() * 0.5 * (c1 * c1 - s1 * s1));
      w[7] += b * (-6.0 * a * s2 + mixed() * c1 * s1);
      next += stride;
    }
    if (fifth) {
      const double square = s[0] * s[0] + s[1] * s[1] + s[2] * s[2];
      for (int k = 0; k < 3; ++k) w[k] += 28.0 / 15.0 * *next * square * s[k];
    }
  }

 private:
  static double wigner() { return -std::sqrt(2.0 / 35.0); }
  static double mixed() { return 3.0 * std::sqrt(3.0); }
};

}  // namespace cambium::md
