#include "plugins/submatrix/dftb/slater_koster.hpp"

#include <cmath>

namespace cambium::submatrix {

namespace {

using Vector = std::array<double, 3>;
using Tensor = std::array<Vector, 3>;

const double root2 = std::sqrt(2.0), root3_2 = std::sqrt(1.5);

/// Unit tensors of the d functions xy, yz, zx, x2-y2, 3z2-r2.
const std::array<Tensor, 5>& d_tensors() {
  static const std::array<Tensor, 5> tensors = [] {
    std::array<Tensor, 5> t{};
    for (std::size_t k = 0; k < 3; ++k) t[k][k][(k + 1) % 3] = t[k][(k + 1) % 3][k] = 1.0 / root2;
    t[3][0][0] = 1.0 / root2;
    t[3][1][1] = -1.0 / root2;
    const double z = 1.0 / std::sqrt(6.0);
    t[4][0][0] = t[4][1][1] = -z;
    t[4][2][2] = 2.0 * z;
    return t;
  }();
  return tensors;
}

Vector times(const Tensor& t, const Vector& n) {
  Vector out{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k) out[i] += t[i][k] * n[k];
  return out;
}

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// Coefficients of sigma, pi and delta, and their derivatives by the direction n.
struct Angular {
  Vector c{};
  Tensor dc{};
};

Angular pp(std::size_t i, std::size_t j, const Vector& n) {
  Angular out;
  out.c = {n[i] * n[j], (i == j ? 1.0 : 0.0) - n[i] * n[j], 0.0};
  out.dc[0][i] += n[j];
  out.dc[0][j] += n[i];
  for (std::size_t k = 0; k < 3; ++k) out.dc[1][k] = -out.dc[0][k];
  return out;
}

Angular sd(std::size_t j, const Vector& n) {
  const Vector bn = times(d_tensors()[j], n);
  Angular out;
  out.c[0] = root3_2 * dot(n, bn);
  for (std::size_t k = 0; k < 3; ++k) out.dc[0][k] = 2.0 * root3_2 * bn[k];
  return out;
}

Angular pd(std::size_t i, std::size_t j, const Vector& n) {
  const Tensor& b = d_tensors()[j];
  const Vector bn = times(b, n);
  const double q = dot(n, bn);
  Angular out;
  out.c = {root3_2 * n[i] * q, root2 * (bn[i] - n[i] * q), 0.0};
  for (std::size_t k = 0; k < 3; ++k) {
    const double dnq = (i == k ? q : 0.0) + 2.0 * n[i] * bn[k];
    out.dc[0][k] = root3_2 * dnq;
    out.dc[1][k] = root2 * (b[i][k] - dnq);
  }
  return out;
}

Angular dd(std::size_t i, std::size_t j, const Vector& n) {
  const Tensor &a = d_tensors()[i], &b = d_tensors()[j];
  const Vector an = times(a, n), bn = times(b, n), abn = times(a, bn), ban = times(b, an);
  const double qa = dot(n, an), qb = dot(n, bn);
  Angular out;
  out.c[0] = 1.5 * qa * qb;
  out.c[1] = 2.0 * (dot(an, bn) - qa * qb);
  out.c[2] = (i == j ? 1.0 : 0.0) - out.c[0] - out.c[1];
  for (std::size_t k = 0; k < 3; ++k) {
    const double dq = 2.0 * (an[k] * qb + bn[k] * qa);
    out.dc[0][k] = 1.5 * dq;
    out.dc[1][k] = 2.0 * (abn[k] + ban[k] - dq);
    out.dc[2][k] = -out.dc[0][k] - out.dc[1][k];
  }
  return out;
}

/// Angular factors of function i of a shell la and function j of a shell lb >= la.
Angular angular(int la, std::size_t i, int lb, std::size_t j, const Vector& n) {
  Angular out;
  if (lb == 0) {
    out.c[0] = 1.0;
    return out;
  }
  if (la == 0 && lb == 2) return sd(j, n);
  if (la == 1) return lb == 1 ? pp(i, j, n) : pd(i, j, n);
  if (la == 2) return dd(i, j, n);
  out.c[0] = n[j];
  out.dc[0][j] = 1.0;
  return out;
}

/// First integral of a pair of shells in a row of a file.
std::size_t first_integral(int low, int high) {
  constexpr std::size_t place[3][3] = {{9, 8, 7}, {8, 5, 3}, {7, 3, 0}};
  return place[low][high];
}

}  // namespace

void slater_koster_blocks(const RadialTable::Value& ab, const RadialTable::Value& ba, const RadialTable::Value& equal,
                          int highest_a, int highest_b, const double d[3], bool gradient, PairBlocks& out) {
  const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  const Vector n{d[0] / r, d[1] / r, d[2] / r};
  const auto columns = static_cast<std::size_t>(functions_of(highest_b));
  for (int la = 0; la <= highest_a; ++la)
    for (int lb = 0; lb <= highest_b; ++lb) {
      const bool turned = la > lb;
      const int low = turned ? lb : la, high = turned ? la : lb;
      const auto& from = la == lb ? equal : turned ? ba : ab;
      const std::size_t first = first_integral(low, high), kinds = static_cast<std::size_t>(low) + 1;
      const double sign = turned && (la + lb) % 2 ? -1.0 : 1.0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(2 * la + 1); ++i)
        for (std::size_t j = 0; j < static_cast<std::size_t>(2 * lb + 1); ++j) {
          const Angular f = turned ? angular(lb, j, la, i, n) : angular(la, i, lb, j, n);
          const std::size_t at =
              (static_cast<std::size_t>(la * la) + i) * columns + static_cast<std::size_t>(lb * lb) + j;
          double h = 0.0, s = 0.0, h1 = 0.0, s1 = 0.0;
          Vector hn{}, sn{};
          for (std::size_t m = 0; m < kinds; ++m) {
            const std::size_t c = first + m, o = c + SkfFile::integrals;
            h += f.c[m] * from.value[c];
            s += f.c[m] * from.value[o];
            h1 += f.c[m] * from.slope[c];
            s1 += f.c[m] * from.slope[o];
            for (std::size_t k = 0; k < 3; ++k) {
              hn[k] += f.dc[m][k] * from.value[c];
              sn[k] += f.dc[m][k] * from.value[o];
            }
          }
          out.h[at] = sign * h;
          out.s[at] = sign * s;
          if (!gradient) continue;
          const double along_h = dot(hn, n), along_s = dot(sn, n);
          for (std::size_t k = 0; k < 3; ++k) {
            out.dh[k][at] = sign * (h1 * n[k] + (hn[k] - along_h * n[k]) / r);
            out.ds[k][at] = sign * (s1 * n[k] + (sn[k] - along_s * n[k]) / r);
          }
        }
    }
}

}  // namespace cambium::submatrix
