#pragma once
#include <cmath>
#include <cstdint>

#include "core/base/pack.hpp"
#include "plugins/kinetic/solver/layout.hpp"

namespace cambium::kinetic {

/// Dougherty's operator at a node of configuration space, as kernels take it; trivially copyable. There f is an array
/// [velocity cell][group], a group being the modes of equal velocity exponents.
struct DoughertyOperator {
  /// One dimension's lines of modes: for each set of the other exponents, the groups with exponent 0, 1, 2 along it.
  struct Line {
    int group[3] = {-1, -1, -1};
    int modes = 0;
    bool counts = false;  ///< no other exponent: the line contributes to the moments
  };
  /// Velocity moments in units of one common factor (moment_unit), and the contributions of the ends of velocity space.
  struct Moments {
    double m0 = 0.0, m2 = 0.0, ends = 0.0, m1[3] = {}, jump[3] = {};
  };
  /// Drift speed and squared thermal speed that the operator relaxes to.
  struct State {
    double u[3] = {}, vt2 = 0.0;
  };
  /// Upward flux through a face between two cells, and the difference of f there.
  struct Face {
    double flux = 0.0, jump = 0.0;
  };
  static constexpr int most_lines = 9;  ///< two other dimensions, three exponents in each

  int vdim = 1, cells = 1, groups = 1;
  int count[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, lines[3] = {};
  double lower[3] = {}, upper[3] = {}, width[3] = {1.0, 1.0, 1.0};  ///< width: 1 where cells have different ones
  double narrowest[3] = {1.0, 1.0, 1.0};
  bool stretched = false;
  const VelocityCell* along[3] = {nullptr, nullptr, nullptr};  ///< cells of each dimension where these are stretched
  Line line[3][most_lines];
  double drift[3][3] = {}, drift_xi[3][3] = {}, diffusion[3][3] = {}, edge[3] = {}, slope[3] = {};
  double largest = 0.0;  ///< eigenvalue of the diffusion matrix, times h^2

  CAMBIUM_FN double centre(int d, int i) const {
    return stretched ? along[d][i].centre : lower[d] + (i + 0.5) * width[d];
  }
  CAMBIUM_FN double width_of(int d, int i) const { return stretched ? along[d][i].width : width[d]; }
  /// Product of the widths of the velocity cell at these places, in units of that of `width`.
  CAMBIUM_FN double volume(const int (&at)[3]) const {
    double product = 1.0;
    for (int d = 0; stretched && d < vdim; ++d) product *= along[d][at[d]].width;
    return product;
  }
  CAMBIUM_FN int place(int iv, int d) const { return iv / stride[d] % count[d]; }
  CAMBIUM_FN double value(const double* f, int iv, const Line& l, int n) const {
    return n < l.modes ? f[std::int64_t{iv} * groups + l.group[n]] : 0.0;
  }

  /// Turns moments into physical units.
  CAMBIUM_FN double moment_unit() const {
    double unit = 1.0;
    for (int d = 0; d < vdim; ++d) unit *= std::sqrt(2.0) * 0.5 * width[d];
    return unit;
  }

  /// Adds the moments of a cell.
  CAMBIUM_FN void add_moments(const double* f, int iv, Moments& m) const {
    double unit = 1.0;
    for (int d = 0; stretched && d < vdim; ++d) unit *= along[d][place(iv, d)].width;
    for (int d = 0; d < vdim; ++d)
      for (int k = 0; k < lines[d]; ++k) {
        const Line& l = line[d][k];
        if (!l.counts) continue;
        const int at = place(iv, d);
        const double h = 0.5 * width_of(d, at), c = centre(d, at);
        const double f0 = unit * value(f, iv, l, 0), f1 = unit * value(f, iv, l, 1), f2 = unit * value(f, iv, l, 2);
        if (d == 0) m.m0 += f0;
        m.m1[d] += c * f0 + h / std::sqrt(3.0) * f1;
        m.m2 +=
            (c * c + h * h / 3.0) * f0 + 2.0 * c * h / std::sqrt(3.0) * f1 + 2.0 / (3.0 * std::sqrt(5.0)) * h * h * f2;
        // Traces per sqrt(1/2), the factor that integration along this dimension puts in front of f0, and per half
        // width.
        if (at == count[d] - 1) {
          const double top = (f0 + std::sqrt(3.0) * f1 + std::sqrt(5.0) * f2) / (2.0 * h);
          m.jump[d] += top;
          m.ends += upper[d] * top;
        }
        if (at == 0) {
          const double bottom = (f0 - std::sqrt(3.0) * f1 + std::sqrt(5.0) * f2) / (2.0 * h);
          m.jump[d] -= bottom;
          m.ends -= lower[d] * bottom;
        }
      }
  }

  /// State for which nu^-1 d/dt m1 = push and nu^-1 d/dt m2/2 = heat in the discrete operator; by default both are
  /// conserved. False if density or vt^2 is not positive.
  /// With D the difference of f at the ends of velocity space and E that of v f, summed over dimensions where needed,
  /// the discrete operator changes the moments by
  ///   dM1/dt = -nu (M1 - u M0 + vt^2 D),   d(M2/2)/dt = -nu (M2 - u . M1 + vt^2 (E - vdim M0)).
  CAMBIUM_FN bool find_state(const Moments& m, const double* push, double heat, State& s) const {
    double square = 0.0, cross = 0.0;
    for (int d = 0; d < vdim; ++d) {
      square += (m.m1[d] + push[d]) * m.m1[d] / m.m0;
      cross += m.m1[d] * m.jump[d] / m.m0;
    }
    s.vt2 = (m.m2 - square + heat) / (vdim * m.m0 - m.ends + cross);
    for (int d = 0; d < vdim; ++d) s.u[d] = (m.m1[d] + push[d] + s.vt2 * m.jump[d]) / m.m0;
    return m.m0 > 0.0 && s.vt2 > 0.0;
  }

  /// Bound of the operator's eigenvalues per unit of nu.
  CAMBIUM_FN double stiffness(const State& s) const {
    double sum = 0.0;
    for (int d = 0; d < vdim; ++d) {
      const double h = narrowest[d], down = std::abs(lower[d] - s.u[d]), up = std::abs(upper[d] - s.u[d]);
      sum += largest * s.vt2 / (h * h) + 10.0 * (down < up ? up : down) / h;
    }
    return sum;
  }

  /// Through the upper face of cell i, number iv, whose middle is a away from the drift. Where widths differ the
  /// penalty is the mean of those of both cells: the estimate that makes the diffusion coercive in each of them by its
  /// own width then holds as for equal ones.
  template <bool unequal>
  CAMBIUM_FN Face through(const double* f, int iv, int i, int d, const Line& l, double a, double vt2) const {
    const int up = iv + stride[d];
    const double h = unequal ? along[d][i].width : width[d], scale = 2.0 / h;
    const double scale_up = unequal ? 2.0 * along[d][i + 1].inverse : scale;
    const double penalty = unequal ? 1.5 * (scale + scale_up) : 6.0 / h;
    double left = 0.0, right = 0.0, gradient = 0.0;
    for (int m = 0; m < l.modes; ++m) {
      const double sign = m % 2 ? -1.0 : 1.0, below = value(f, iv, l, m), above = value(f, up, l, m);
      left += edge[m] * below;
      right += sign * edge[m] * above;
      if constexpr (unequal)
        gradient += 0.5 * slope[m] * (scale * below - sign * scale_up * above);
      else
        gradient += 0.5 * scale * slope[m] * (below - sign * above);
    }
    const double face = a + 0.5 * h, jump = left - right;
    // The drift carries f towards u: from above where v > u.
    return {face * (face > 0.0 ? right : left) + vt2 * (gradient - penalty * jump), jump};
  }

  /// Adds to `out`, or for the first dimension writes, the operator along d, per unit of nu, in the cells [from, to) of
  /// the line of cells that begins at `first`. Faces between such pieces are worked out by both.
  CAMBIUM_FN void add_piece(const double* f, double* out, int d, const Line& l, int first, int from, int to,
                            const State& s) const {
    stretched ? add_cells<true>(f, out, d, l, first, from, to, s) : add_cells<false>(f, out, d, l, first, from, to, s);
  }
  template <bool unequal>
  CAMBIUM_FN void add_cells(const double* f, double* out, int d, const Line& l, int first, int from, int to,
                            const State& s) const {
    Face below;
    if (from > 0)
      below = through<unequal>(f, first + (from - 1) * stride[d], from - 1, d, l, centre(d, from - 1) - s.u[d], s.vt2);
    for (int i = from; i < to; ++i) {
      const int iv = first + i * stride[d];
      const double h = unequal ? along[d][i].width : width[d], scale = 2.0 / h;
      const double a = (unequal ? along[d][i].centre : lower[d] + (i + 0.5) * width[d]) - s.u[d];
      const bool ends = i + 1 == count[d];
      const Face above = ends ? Face() : through<unequal>(f, iv, i, d, l, a, s.vt2);
      for (int k = 0; k < l.modes; ++k) {
        double& to_mode = out[std::int64_t{iv} * groups + l.group[k]];
        double sum = 0.0, all = d == 0 ? 0.0 : to_mode;
        const double sign = k % 2 ? -1.0 : 1.0, symmetric = 0.5 * s.vt2 * scale * slope[k];
        for (int m = 0; m < l.modes; ++m)
          sum += (scale * (a * drift[k][m] + 0.5 * h * drift_xi[k][m]) + s.vt2 * scale * scale * diffusion[k][m]) *
                 value(f, iv, l, m);
        if (i > 0) all += scale * (-sign * edge[k] * below.flux - sign * (symmetric * below.jump));
        all += -sum;
        if (!ends) all += scale * (edge[k] * above.flux + symmetric * above.jump);
        to_mode = all;
      }
      below = above;
    }
  }
};

}  // namespace cambium::kinetic
