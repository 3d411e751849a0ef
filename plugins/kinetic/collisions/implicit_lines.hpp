#pragma once
#include <cstdint>

#include "plugins/kinetic/collisions/dougherty_operator.hpp"
#include "plugins/kinetic/solver/layout.hpp"

// Blocks of P lines must stay in registers, which requires unrolled loops.
#if defined(__GNUC__) && !defined(__clang__) && !defined(CAMBIUM_DEVICE_COMPILER)
#define CAMBIUM_UNROLL _Pragma("GCC unroll 8")
#else
#define CAMBIUM_UNROLL
#endif

namespace cambium::kinetic {

/// One implicit step of Dougherty's operator along one velocity dimension d,
///   f(t + dt) = R(nu dt A) f(t),   A f = d/dv_d [ (v_d - u_d) f + vt^2 df/dv_d ],
/// with the L-stable singly diagonally implicit Runge-Kutta scheme of two stages and order 2 (Alexander, SIAM J. Numer.
/// Anal. 14, 1006 (1977)): g = 1 - sqrt(1/2) and
///   (1 - g nu dt A) y = f,   (1 - g nu dt A) f(t + dt) = f + (1 - g)/g (y - f).
/// A couples each cell of a line with its two neighbours: a matrix of M x M blocks, M the modes of the line along d,
/// which is factorized once for all lines of equal M. Lanes are cells of configuration space.
struct ImplicitScheme {
  static constexpr double g = 0.29289321881345247559915563789515;
  static constexpr double second = 2.4142135623730950488016887242097;  ///< (1 - g)/g

  /// 1 - R(-z), without cancellation for small z.
  template <class D>
  CAMBIUM_FN static D decay(D z) {
    const D below = D(1.0) + D(g) * z;
    return z * (D(1.0) + D(g * g) * z) / (below * below);
  }
};

/// Blocks of a face between two cells: what the cell below and the one above get from the modes of either.
template <class D, int M>
struct FaceBlocks {
  D below_below[M][M], below_above[M][M], above_below[M][M], above_above[M][M];

  /// Above cell i of dimension d; `face` is v - u there. The same fluxes as DoughertyOperator::through.
  CAMBIUM_FN FaceBlocks(const DoughertyOperator& op, int d, int i, D face, D vt2) {
    const bool last = i + 1 == op.count[d];
    const double scale = 2.0 / op.width_of(d, i),
                 scale_up = op.stretched && !last ? 2.0 / op.width_of(d, i + 1) : scale;
    const double penalty = 1.5 * (scale + scale_up);
    const D zero(0.0);
    const D from_above = select(face > zero, face, zero), from_below = face - from_above;
    for (int m = 0; m < M; ++m) {
      const double sign = m % 2 ? -1.0 : 1.0, edge = op.edge[m];
      const D flux_below = from_below * D(edge) + vt2 * D(0.5 * scale * op.slope[m] - penalty * edge);
      const D flux_above = (from_above * D(edge) - vt2 * D(0.5 * scale_up * op.slope[m] - penalty * edge)) * D(sign);
      for (int k = 0; k < M; ++k) {
        const double other = k % 2 ? 1.0 : -1.0;
        const D test(scale * op.edge[k]), symmetric = vt2 * D(0.5 * scale * scale * op.slope[k] * edge);
        const D test_up(other * scale_up * op.edge[k]),
            symmetric_up = vt2 * D(other * 0.5 * scale_up * scale_up * op.slope[k] * edge);
        below_below[k][m] = test * flux_below + symmetric;
        below_above[k][m] = test * flux_above - symmetric * D(sign);
        above_below[k][m] = test_up * flux_below + symmetric_up;
        above_above[k][m] = test_up * flux_above - symmetric_up * D(sign);
      }
    }
  }
};

/// Inverse of an M x M matrix by cofactors.
template <class D>
CAMBIUM_FN void invert(const D (&a)[1][1], D (&out)[1][1]) {
  out[0][0] = D(1.0) / a[0][0];
}
template <class D>
CAMBIUM_FN void invert(const D (&a)[2][2], D (&out)[2][2]) {
  const D scale = D(1.0) / (a[0][0] * a[1][1] - a[0][1] * a[1][0]);
  out[0][0] = a[1][1] * scale;
  out[0][1] = -a[0][1] * scale;
  out[1][0] = -a[1][0] * scale;
  out[1][1] = a[0][0] * scale;
}
template <class D>
CAMBIUM_FN void invert(const D (&a)[3][3], D (&out)[3][3]) {
  D c[3][3];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const int r = (i + 1) % 3, s = (i + 2) % 3, p = (j + 1) % 3, q = (j + 2) % 3;
      c[i][j] = a[r][p] * a[s][q] - a[r][q] * a[s][p];
    }
  const D scale = D(1.0) / (a[0][0] * c[0][0] + a[0][1] * c[0][1] + a[0][2] * c[0][2]);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) out[i][j] = c[j][i] * scale;
}

/// The factorized matrix 1 - step A of lines of M modes along d, for lanes of their own step, u and vt^2: for each cell
/// three blocks, with which y_i = inverse r_i - lower y_(i-1) upwards and x_i = y_i - upper x_(i+1) downwards.
template <class D, int M>
struct LineFactors {
  static constexpr int W = D::width, blocks = 3 * M * M;
  double* at;  ///< [cell][inverse, lower, upper][M][M][lane]

  CAMBIUM_FN static std::int64_t size(int cells) { return std::int64_t{cells} * blocks * W; }
  CAMBIUM_FN double* block(int cell, int which) const { return at + (std::int64_t{cell} * 3 + which) * M * M * W; }

  CAMBIUM_FN void factorize(const DoughertyOperator& op, int d, D u, D vt2, D step) const {
    const int cells = op.count[d];
    D to_below[M][M] = {}, last[M][M] = {}, corner[M][M] = {};  // of the face below, of the cell below
    for (int i = 0; i < cells; ++i) {
      const double h = op.width_of(d, i), scale = 2.0 / h;
      const D a = D(op.centre(d, i)) - u;
      D whole[M][M], inverse[M][M];
      for (int k = 0; k < M; ++k)
        for (int m = 0; m < M; ++m) {
          const D volume = D(scale) * (a * D(op.drift[k][m]) + D(0.5 * h * op.drift_xi[k][m])) +
                           vt2 * D(scale * scale * op.diffusion[k][m]);
          whole[k][m] = D(k == m ? 1.0 : 0.0) + step * (volume - corner[k][m]);
        }
      const bool ends = i + 1 == cells;
      const FaceBlocks<D, M> face(op, d, i, a + D(0.5 * h), vt2);
      for (int k = 0; k < M; ++k)
        for (int m = 0; m < M; ++m) {
          if (!ends) whole[k][m] -= step * face.below_below[k][m];
          for (int n = 0; n < M; ++n) whole[k][m] += step * to_below[k][n] * last[n][m];
        }
      invert(whole, inverse);
      for (int k = 0; k < M; ++k)
        for (int m = 0; m < M; ++m) {
          D lower(0.0), upper(0.0);
          for (int n = 0; n < M; ++n) {
            lower -= inverse[k][n] * step * to_below[n][m];
            if (!ends) upper -= inverse[k][n] * step * face.below_above[n][m];
          }
          inverse[k][m].store(block(i, 0) + (k * M + m) * W);
          lower.store(block(i, 1) + (k * M + m) * W);
          upper.store(block(i, 2) + (k * M + m) * W);
          last[k][m] = upper;
        }
      for (int k = 0; k < M; ++k)
        for (int m = 0; m < M; ++m) {
          to_below[k][m] = face.above_below[k][m];
          corner[k][m] = face.above_above[k][m];
        }
    }
  }
};

/// P lines of M modes: addresses of their modes in the first cell, and the stride to the next cell.
template <int M, int P>
struct Lines {
  double* first[P][M];
  std::int64_t step;
};

/// P lines by one step, with the factors of theirs; `work` holds their cells, [cell][P][M][lane].
template <class D, int M, int P>
struct LineStep {
  static constexpr int W = D::width;
  LineFactors<D, M> factors;
  Lines<M, P> lines;
  double* work;
  int cells;

  CAMBIUM_FN double* mine(int i, int p, int m) const { return work + ((std::int64_t{i} * P + p) * M + m) * W; }
  CAMBIUM_FN D f(int i, int p, int m) const { return D::load(lines.first[p][m] + i * lines.step); }

  /// act(p, m) for all lines and modes.
  template <class Act>
  CAMBIUM_FN static void each_mode(const Act& act) {
    CAMBIUM_UNROLL
    for (int p = 0; p < P; ++p) {
      CAMBIUM_UNROLL
      for (int m = 0; m < M; ++m) act(p, m);
    }
  }
  /// out += sign * block * in for all lines.
  CAMBIUM_FN static void multiply(const double* block, double sign, const D (&in)[P][M], D (&out)[P][M]) {
    CAMBIUM_UNROLL
    for (int k = 0; k < M; ++k) {
      CAMBIUM_UNROLL
      for (int m = 0; m < M; ++m) {
        const D a = D(sign) * D::load(block + (k * M + m) * W);
        CAMBIUM_UNROLL
        for (int p = 0; p < P; ++p) out[p][k] = fma(a, in[p][m], out[p][k]);
      }
    }
  }

  /// `right(i, p, m)` is the right-hand side.
  template <class Right>
  CAMBIUM_FN void up(const Right& right) const {
    D y[P][M];
    each_mode([&](int p, int m) CAMBIUM_INLINE_LAMBDA { y[p][m] = D(0.0); });
    for (int i = 0; i < cells; ++i) {
      D r[P][M], next[P][M];
      each_mode([&](int p, int m) CAMBIUM_INLINE_LAMBDA { r[p][m] = right(i, p, m), next[p][m] = D(0.0); });
      multiply(factors.block(i, 0), 1.0, r, next);
      multiply(factors.block(i, 1), -1.0, y, next);
      each_mode([&](int p, int m) CAMBIUM_INLINE_LAMBDA {
        y[p][m] = next[p][m];
        next[p][m].store(mine(i, p, m));
      });
    }
  }
  /// `take(i, p, m, x)` gets the solution.
  template <class Take>
  CAMBIUM_FN void down(const Take& take) const {
    D x[P][M];
    each_mode([&](int p, int m) CAMBIUM_INLINE_LAMBDA { x[p][m] = D(0.0); });
    for (int i = cells - 1; i >= 0; --i) {
      D next[P][M];
      each_mode([&](int p, int m) CAMBIUM_INLINE_LAMBDA { next[p][m] = D::load(mine(i, p, m)); });
      multiply(factors.block(i, 2), -1.0, x, next);  // the last one has no cell above: zeros
      each_mode([&](int p, int m) CAMBIUM_INLINE_LAMBDA {
        x[p][m] = next[p][m];
        take(i, p, m, next[p][m]);
      });
    }
  }
  CAMBIUM_FN void operator()() const {
    up([&](int i, int p, int m) CAMBIUM_INLINE_LAMBDA { return f(i, p, m); });
    down([&](int i, int p, int m, D y) CAMBIUM_INLINE_LAMBDA {
      const D before = f(i, p, m);
      fma(D(ImplicitScheme::second), y - before, before).store(mine(i, p, m));
    });
    up([&](int i, int p, int m) CAMBIUM_INLINE_LAMBDA { return D::load(mine(i, p, m)); });
    down([&](int i, int p, int m, D x) CAMBIUM_INLINE_LAMBDA { x.store(lines.first[p][m] + i * lines.step); });
  }
};

/// f + d/dv_d [ -a f + b df/dv_d ] along a line, in place: a small shift and widening.
template <class D, int M>
CAMBIUM_FN void shift_and_widen(const DoughertyOperator& op, int d, const Lines<M, 1>& line, D a, D b) {
  D now[M], above[M], from_below[M];
  for (int m = 0; m < M; ++m) now[m] = D::load(line.first[0][m]), from_below[m] = D(0.0);
  FaceBlocks<D, M> face(op, d, 0, -a, b);  // of every face between cells of equal widths
  for (int i = 0; i < op.count[d]; ++i) {
    const bool ends = i + 1 == op.count[d];
    const double scale = 2.0 / op.width_of(d, i);
    if (op.stretched && i > 0) face = FaceBlocks<D, M>(op, d, i, -a, b);
    D next[M], change[M];
    for (int m = 0; m < M; ++m) next[m] = ends ? D(0.0) : D::load(line.first[0][m] + (i + 1) * line.step);
    for (int k = 0; k < M; ++k) {
      change[k] = from_below[k];
      above[k] = D(0.0);
      for (int m = 0; m < M; ++m) {
        change[k] -= (b * D(scale * scale * op.diffusion[k][m]) - a * D(scale * op.drift[k][m])) * now[m];
        if (ends) continue;
        change[k] += face.below_below[k][m] * now[m] + face.below_above[k][m] * next[m];
        above[k] += face.above_below[k][m] * now[m] + face.above_above[k][m] * next[m];
      }
    }
    for (int m = 0; m < M; ++m) {
      (now[m] + change[m]).store(line.first[0][m] + i * line.step);
      now[m] = next[m];
      from_below[m] = above[m];
    }
  }
}

}  // namespace cambium::kinetic
