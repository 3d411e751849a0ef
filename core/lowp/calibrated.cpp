#include "core/lowp/calibrated.hpp"

#include <array>
#include <cmath>

#include "core/base/error.hpp"
#include "core/numerics/gemm.hpp"

namespace cambium::lowp {
namespace {

constexpr int most_calibrated_bits = 4;
using Size = std::size_t;

std::vector<double> means(std::span<const float> x, std::int64_t columns) {
  std::vector<double> out(static_cast<Size>(columns), 0.0);
  const Size n = x.size() / out.size();
  for (Size k = 0; k < x.size(); ++k) out[k % out.size()] += x[k];
  for (double& m : out) m /= static_cast<double>(n);
  return out;
}

std::vector<double> centred(std::span<const float> x, const std::vector<double>& mean) {
  std::vector<double> out(x.begin(), x.end());
  for (Size k = 0; k < out.size(); ++k) out[k] -= mean[k % mean.size()];
  return out;
}

/// Solves the `n` normal equations a[i][0..n-1] s = a[i][n] by elimination; false when they are dependent.
bool solve(int n, double (&a)[most_calibrated_bits][most_calibrated_bits + 1], double scale) {
  for (int k = 0; k < n; ++k) {
    if (std::abs(a[k][k]) < 1e-9 * scale) return false;
    for (int i = 0; i < n; ++i) {
      if (i == k) continue;
      const double f = a[i][k] / a[k][k];
      for (int j = k; j <= n; ++j) a[i][j] -= f * a[k][j];
    }
  }
  return true;
}

/// One row on its way to the least of q A q - 2 q b, with q the sum of scale times sign over the planes.
class CalibratedRow {
 public:
  CalibratedRow(const BinaryCodedMatrix& m, std::int64_t row, const std::vector<double>& a, const double* b)
      : a_(a), b_(b), n_(static_cast<Size>(m.columns)), bits_(m.bits), pattern_(n_, 0) {
    for (int p = 0; p < bits_; ++p) scale_[p] = m.scale(p, row);
    for (Size k = 0; k < n_; ++k)
      for (int p = 0; p < bits_; ++p)
        pattern_[k] |= static_cast<unsigned>(m.positive(p, row, static_cast<std::int64_t>(k))) << p;
    for (int p = 0; p < bits_; ++p) {
      product_[p].assign(n_, 0.0);
      for (Size k = 0; k < n_; ++k) add_column(p, k, sign(pattern_[k], p));
    }
  }

  /// Sets every pattern in turn to the best for the others; returns how many changed.
  int sweep(bool ternary) {
    std::array<double, 1 << most_calibrated_bits> level{};
    for (unsigned q = 0; q < 1u << bits_; ++q)
      for (int p = 0; p < bits_; ++p) level[q] += sign(q, p) * scale_[p];
    int changed = 0;
    for (Size k = 0; k < n_; ++k) {
      double slope = -b_[k];
      for (int p = 0; p < bits_; ++p) slope += scale_[p] * product_[p][k];
      const double target = level[pattern_[k]] - slope / a_[k * n_ + k];
      unsigned best = pattern_[k];
      for (unsigned q = 0; q < 1u << bits_; ++q)
        if (!(ternary && q == 2) && std::abs(level[q] - target) < std::abs(level[best] - target) * (1.0 - 1e-12))
          best = q;
      if (best == pattern_[k]) continue;
      for (int p = 0; p < bits_; ++p)
        if ((best ^ pattern_[k]) >> p & 1) add_column(p, k, 2.0 * sign(best, p));
      pattern_[k] = best, ++changed;
    }
    return changed;
  }

  void fit_scales() {
    double m[most_calibrated_bits][most_calibrated_bits + 1] = {};
    for (int i = 0; i < bits_; ++i)
      for (Size k = 0; k < n_; ++k) {
        const double s = sign(pattern_[k], i);
        m[i][bits_] += s * b_[k];
        for (int j = 0; j < bits_; ++j) m[i][j] += s * product_[j][k];
      }
    if (!solve(bits_, m, m[0][0])) return;
    for (int i = 0; i < bits_; ++i) scale_[i] = m[i][bits_] / m[i][i];
  }

  void store(std::int64_t row, BinaryCodedMatrix& m) const {
    for (int p = 0; p < bits_; ++p) {
      m.scales[static_cast<Size>(p * m.row_blocks() * BinaryCodedMatrix::block_rows + row)] =
          static_cast<float>(scale_[p]);
      for (Size k = 0; k < n_; ++k) m.set(p, row, static_cast<std::int64_t>(k), (pattern_[k] >> p & 1) != 0);
    }
  }

 private:
  static double sign(unsigned pattern, int plane) { return pattern >> plane & 1 ? 1.0 : -1.0; }
  void add_column(int plane, Size k, double factor) {
    for (Size i = 0; i < n_; ++i) product_[plane][i] += factor * a_[k * n_ + i];
  }

  const std::vector<double>& a_;
  const double* b_;
  Size n_;
  int bits_;
  std::vector<unsigned> pattern_;  ///< by column, a bit per plane
  std::array<double, most_calibrated_bits> scale_{};
  std::array<std::vector<double>, most_calibrated_bits> product_;  ///< A times the signs of a plane
};

/// Rows b of the linear terms: W E[x x'] + ridge W.
std::vector<double> linear_terms(std::span<const float> weights, const InputMoments& inputs, double ridge) {
  const int n = static_cast<int>(inputs.columns), rows = static_cast<int>(weights.size() / static_cast<Size>(n));
  const std::vector<double> w(weights.begin(), weights.end());
  std::vector<double> b = w;
  host_gemm<double>(false, false, rows, n, n, 1.0, w.data(), n, inputs.cross.data(), n, ridge, b.data(), n);
  return b;
}

}  // namespace

InputMoments input_moments(std::span<const float> full, std::span<const float> rounded, std::int64_t columns) {
  const auto n = static_cast<Size>(columns);
  if (columns < 1 || full.size() != rounded.size() || full.empty() || full.size() % n != 0)
    throw InternalError("input_moments: rows of different samples");
  InputMoments out;
  out.columns = columns;
  out.full_mean = means(full, columns);
  out.mean = means(rounded, columns);
  const auto x = centred(full, out.full_mean), seen = centred(rounded, out.mean);
  const int rows = static_cast<int>(full.size() / n), m = static_cast<int>(n);
  out.own.assign(n * n, 0.0);
  out.cross = out.own;
  host_gemm<double>(true, false, m, m, rows, 1.0 / rows, seen.data(), m, seen.data(), m, 0.0, out.own.data(), m);
  host_gemm<double>(true, false, m, m, rows, 1.0 / rows, x.data(), m, seen.data(), m, 0.0, out.cross.data(), m);
  return out;
}

CalibratedMatrix calibrated(BinaryCodedMatrix start, bool ternary, std::span<const float> weights,
                            const InputMoments& inputs, int rounds, double ridge) {
  const auto n = static_cast<Size>(start.columns);
  if (inputs.columns != start.columns || std::ssize(weights) != start.rows * start.columns)
    throw InternalError("calibrated: moments of another matrix");
  std::vector<double> a = inputs.own;
  double trace = 0.0;
  for (Size k = 0; k < n; ++k) trace += a[k * n + k];
  // Never 0: an input that is constant over all samples keeps its weight.
  const double added = std::max(ridge * trace / static_cast<double>(n), 1e-30);
  for (Size k = 0; k < n; ++k) a[k * n + k] += added;
  const auto b = linear_terms(weights, inputs, added);
  CalibratedMatrix out{std::move(start), {}};
  for (std::int64_t r = 0; r < out.matrix.rows; ++r) {
    CalibratedRow row(out.matrix, r, a, b.data() + static_cast<Size>(r) * n);
    for (int k = 0; k < rounds; ++k) {
      if (!ternary) row.fit_scales();
      if (row.sweep(ternary) == 0) break;
    }
    if (!ternary) row.fit_scales();
    row.store(r, out.matrix);
  }
  const auto meant = out.matrix.dense();
  for (Size r = 0; r < static_cast<Size>(out.matrix.rows); ++r) {
    double shift = 0.0;
    for (Size k = 0; k < n; ++k) shift += weights[r * n + k] * inputs.full_mean[k] - meant[r * n + k] * inputs.mean[k];
    out.shift.push_back(static_cast<float>(shift));
  }
  return out;
}

}  // namespace cambium::lowp
