#pragma once
#include "core/base/pack.hpp"

namespace cambium::md {

/// Cardinal B-splines of one coordinate of an atom: U. Essmann et al., J. Chem. Phys. 103, 8577 (1995), eq. 4.1. The
/// weight of mesh point floor(u) - j is value[j] = M_order(u - floor(u) + j), its derivative with respect to u
/// slope[j].
template <int order>
struct Splines {
  double value[order], slope[order];

  /// `w`: u - floor(u).
  CAMBIUM_FN explicit Splines(double w) {
    value[0] = w;
    value[1] = 1.0 - w;
    for (int n = 3; n <= order; ++n) {
      if (n == order) differentiate();
      const double inverse = 1.0 / (n - 1);
      value[n - 1] = (1.0 - w) * value[n - 2] * inverse;
      for (int j = n - 2; j > 0; --j) value[j] = ((w + j) * value[j] + (n - w - j) * value[j - 1]) * inverse;
      value[0] *= w * inverse;
    }
  }

 private:
  /// Sets the derivatives, from the splines of one order less.
  CAMBIUM_FN void differentiate() {
    slope[0] = value[0];
    for (int j = 1; j < order - 1; ++j) slope[j] = value[j] - value[j - 1];
    slope[order - 1] = -value[order - 2];
  }
};

}  // namespace cambium::md
