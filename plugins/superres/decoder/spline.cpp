#include "plugins/superres/decoder/spline.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace cambium::superres {

SplineAxis::SplineAxis(const std::vector<double>& nodes, bool wraps) : nodes_(nodes), wraps_(wraps) {
  const int n = static_cast<int>(nodes.size());
  if (wraps) {
    count_ = n - 1;
    const double period = nodes.back() - nodes.front();
    for (int k = -degree_; k <= count_ + degree_; ++k) {
      const int turns = k < 0 ? -((-k + count_ - 1) / count_) : k / count_;
      knots_.push_back(nodes[k - turns * count_] + turns * period);
    }
    return;
  }
  count_ = n;
  degree_ = std::min(3, n - 1);
  knots_.assign(degree_ + 1, nodes.front());
  const int dropped = degree_ == 3 ? 2 : 1;  // nodes without a knot at each end
  for (int k = dropped; k < n - dropped && static_cast<int>(knots_.size()) < n; ++k) knots_.push_back(nodes[k]);
  knots_.insert(knots_.end(), degree_ + 1, nodes.back());
}

namespace {

/// Inverse by Gauss-Jordan elimination with pivoting, row-major.
std::vector<double> inverse(std::vector<double> a, int n) {
  std::vector<double> b(static_cast<std::size_t>(n) * n, 0.0);
  for (int i = 0; i < n; ++i) b[i * n + i] = 1.0;
  for (int c = 0; c < n; ++c) {
    int pivot = c;
    for (int i = c + 1; i < n; ++i)
      if (std::abs(a[i * n + c]) > std::abs(a[pivot * n + c])) pivot = i;
    for (int j = 0; j < n; ++j) std::swap(a[c * n + j], a[pivot * n + j]), std::swap(b[c * n + j], b[pivot * n + j]);
    const double scale = 1.0 / a[c * n + c];
    for (int j = 0; j < n; ++j) {
      a[c * n + j] *= scale;
      b[c * n + j] *= scale;
    }
    for (int i = 0; i < n; ++i) {
      const double factor = a[i * n + c];
      if (i == c || factor == 0.0) continue;
      for (int j = 0; j < n; ++j) {
        a[i * n + j] -= factor * a[c * n + j];
        b[i * n + j] -= factor * b[c * n + j];
      }
    }
  }
  return b;
}

}  // namespace

SplineAxis::At SplineAxis::at(double x) const {
  constexpr int orders = JetBasis::highest_order + 1;
  const int p = degree_;
  const auto first = knots_.begin() + p, last = knots_.end() - p - 1;
  const int piece =
      static_cast<int>(std::clamp(std::upper_bound(first, last, x), first + 1, last) - knots_.begin()) - 1;
  // values[d][j]: spline piece - d + j of degree d.
  double values[most][most] = {{1.0}};
  for (int d = 1; d <= p; ++d)
    for (int j = 0; j <= d; ++j) {
      const int s = piece - d + j;
      double sum = 0.0;
      if (j > 0) sum += (x - knots_[s]) / (knots_[s + d] - knots_[s]) * values[d - 1][j - 1];
      if (j < d) sum += (knots_[s + d + 1] - x) / (knots_[s + d + 1] - knots_[s + 1]) * values[d - 1][j];
      values[d][j] = sum;
    }
  At out{};
  for (int j = 0; j <= p; ++j)
    out.spline[j] = wraps_ ? (piece - p + j - 1 + count_) % count_ : piece - p + j;  // spline k peaks at node k
  // Derivatives of splines of degree d are differences of those of degree d - 1.
  for (int order = 0; order < orders && order <= p; ++order) {
    double c[most + 1] = {};
    std::copy_n(values[p - order], p - order + 1, c);
    for (int d = p - order + 1; d <= p; ++d)
      for (int j = d; j >= 0; --j) {
        const int s = piece - d + j;
        const double left = j > 0 ? c[j - 1] / (knots_[s + d] - knots_[s]) : 0.0;
        const double right = j < d ? c[j] / (knots_[s + d + 1] - knots_[s + 1]) : 0.0;
        c[j] = d * (left - right);
      }
    for (int j = 0; j <= p; ++j) out.weight[j][order] = c[j];
  }
  return out;
}

std::vector<double> SplineAxis::interpolation() const {
  std::vector<double> a(static_cast<std::size_t>(count_) * count_, 0.0);
  for (int k = 0; k < count_; ++k) {
    const At here = at(nodes_[k]);
    for (int j = 0; j <= degree_; ++j) a[k * count_ + here.spline[j]] += here.weight[j][0];
  }
  return inverse(std::move(a), count_);
}

std::vector<double> spline_coefficients(const std::array<SplineAxis, 3>& axes, std::vector<double> values) {
  std::int64_t after = std::ssize(values);
  for (const auto& axis : axes) {
    const int n = axis.count();
    after /= n;
    const auto to = axis.interpolation();
    std::vector<double> out(values.size(), 0.0);
    for (std::int64_t i = 0; i < std::ssize(values); ++i) {
      const auto here = i / after % n;
      for (int k = 0; k < n; ++k) out[i] += to[here * n + k] * values[i + (k - here) * after];
    }
    values = std::move(out);
  }
  return values;
}

}  // namespace cambium::superres
