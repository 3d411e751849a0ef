#include "plugins/submatrix/dftb/mixer.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::submatrix {

void MixingKeys::describe(deck::Describe<MixingKeys>& d) {
  d("type", &MixingKeys::type, "mixing of the charges from one cycle to the next: simple, anderson or broyden")
      .options({{"simple", Kind::simple}, {"anderson", Kind::anderson}, {"broyden", Kind::broyden}})
      .def(Kind::anderson);
  d("parameter", &MixingKeys::parameter, "mixing parameter: fraction of the new charges")
      .positive()
      .at_most(1.0)
      .def(0.2);
  d("generations", &MixingKeys::generations, "number of earlier cycles that anderson and broyden use")
      .range(2, 100)
      .def(8);
}

namespace {

using Vector = std::vector<double>;

double inner(const Vector& a, const Vector& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

Vector difference(const Vector& a, const Vector& b) {
  Vector out(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) out[k] = a[k] - b[k];
  return out;
}

/// Gaussian elimination with the largest pivots; directions without one stay out.
Vector solved(std::vector<Vector> a, Vector b) {
  const std::size_t n = b.size();
  std::vector<bool> out_of(n, false);
  double largest = 0.0;
  for (std::size_t k = 0; k < n; ++k) largest = std::max(largest, std::abs(a[k][k]));
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t p = c;
    for (std::size_t r = c; r < n; ++r)
      if (std::abs(a[r][c]) > std::abs(a[p][c])) p = r;
    std::swap(a[c], a[p]);
    std::swap(b[c], b[p]);
    out_of[c] = std::abs(a[c][c]) < 1e-14 * largest;
    if (out_of[c]) continue;
    for (std::size_t r = c + 1; r < n; ++r) {
      const double f = a[r][c] / a[c][c];
      for (std::size_t k = c; k < n; ++k) a[r][k] -= f * a[c][k];
      b[r] -= f * b[c];
    }
  }
  Vector x(n, 0.0);
  for (std::size_t c = n; c-- > 0;) {
    if (out_of[c]) continue;
    double sum = b[c];
    for (std::size_t k = c + 1; k < n; ++k) sum -= a[c][k] * x[k];
    x[c] = sum / a[c][c];
  }
  return x;
}

}  // namespace

std::vector<double> Mixer::next(const Vector& x, const Vector& residual) {
  Vector out = keys_.type == MixingKeys::Kind::broyden ? broyden(x, residual) : anderson(x, residual);
  if (keys_.type == MixingKeys::Kind::simple) return out;
  x_.push_back(x);
  residual_.push_back(residual);
  if (std::ssize(x_) >= keys_.generations) {
    x_.erase(x_.begin());
    residual_.erase(residual_.begin());
  }
  return out;
}

/// Without earlier cycles this is simple mixing.
Vector Mixer::anderson(const Vector& x, const Vector& residual) const {
  const std::size_t m = x_.size();
  std::vector<Vector> dx, df;
  for (std::size_t k = 0; k < m; ++k) {
    dx.push_back(difference(x, x_[k]));
    df.push_back(difference(residual, residual_[k]));
  }
  std::vector<Vector> a(m, Vector(m));
  Vector b(m), out = x, best = residual;
  for (std::size_t k = 0; k < m; ++k) {
    for (std::size_t l = 0; l < m; ++l) a[k][l] = inner(df[k], df[l]);
    b[k] = inner(df[k], residual);
  }
  const Vector theta = solved(a, b);
  for (std::size_t k = 0; k < m; ++k)
    for (std::size_t i = 0; i < x.size(); ++i) {
      out[i] -= theta[k] * dx[k][i];
      best[i] -= theta[k] * df[k][i];
    }
  for (std::size_t i = 0; i < x.size(); ++i) out[i] += keys_.parameter * best[i];
  return out;
}

Vector Mixer::broyden(const Vector& x, const Vector& residual) const {
  constexpr double w0 = 0.01;
  std::vector<Vector> df, u;
  for (std::size_t k = 0; k < x_.size(); ++k) {
    const bool last = k + 1 == x_.size();
    Vector f = difference(last ? residual : residual_[k + 1], residual_[k]);
    Vector d = difference(last ? x : x_[k + 1], x_[k]);
    const double norm = std::sqrt(inner(f, f));
    if (norm == 0.0) continue;
    for (std::size_t i = 0; i < f.size(); ++i) {
      f[i] /= norm;
      d[i] = d[i] / norm + keys_.parameter * f[i];
    }
    df.push_back(std::move(f));
    u.push_back(std::move(d));
  }
  const std::size_t m = df.size();
  std::vector<Vector> a(m, Vector(m));
  Vector c(m), out = x;
  for (std::size_t k = 0; k < m; ++k) {
    for (std::size_t l = 0; l < m; ++l) a[k][l] = inner(df[k], df[l]);
    a[k][k] += w0 * w0;
    c[k] = inner(df[k], residual);
  }
  const Vector gamma = solved(a, c);
  for (std::size_t i = 0; i < x.size(); ++i) {
    out[i] += keys_.parameter * residual[i];
    for (std::size_t k = 0; k < m; ++k) out[i] -= gamma[k] * u[k][i];
  }
  return out;
}

}  // namespace cambium::submatrix
