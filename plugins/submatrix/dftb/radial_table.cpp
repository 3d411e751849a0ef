#include "plugins/submatrix/dftb/radial_table.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::submatrix {

namespace {

constexpr double tail = 1.0;  // bohr

/// Weights of eight equidistant values in the polynomial through them and in its first two derivatives, by products:
/// they hold at the points themselves, too.
std::array<std::array<double, 8>, 3> lagrange(double t) {
  std::array<std::array<double, 8>, 3> out{};
  for (int j = 0; j < 8; ++j) {
    double value = 1.0, slope = 0.0, curvature = 0.0;
    for (int m = 0; m < 8; ++m) {
      if (m == j) continue;
      const double inverse = 1.0 / (j - m), factor = (t - m) * inverse;
      curvature = curvature * factor + 2.0 * slope * inverse;
      slope = slope * factor + value * inverse;
      value *= factor;
    }
    out[0][j] = value;
    out[1][j] = slope;
    out[2][j] = curvature;
  }
  return out;
}

}  // namespace

RadialTable::RadialTable(const SkfFile& file) : rows_(file.rows), spacing_(file.spacing) {
  cutoff_ = spacing_ * static_cast<double>(rows_.size()) + tail;
}

std::array<RadialTable::Row, 3> RadialTable::polynomial(int first, double t) const {
  const auto weight = lagrange(t);
  std::array<Row, 3> out{};
  for (std::size_t order = 0; order < 3; ++order) {
    const double scale = std::pow(spacing_, -static_cast<double>(order));
    for (int p = 0; p < points; ++p) {
      const double w = weight[order][p] * scale;
      const Row& row = rows_[first + p];
      for (std::size_t c = 0; c < columns; ++c) out[order][c] += w * row[c];
    }
  }
  return out;
}

RadialTable::Value RadialTable::at(double r) const {
  Value out;
  if (r >= cutoff_) return out;
  const int rows = static_cast<int>(rows_.size()), before = static_cast<int>(r / spacing_);
  constexpr int right = 4;
  if (before < rows) {
    const int last = std::max(std::min(rows, before + right), points), first = last - points;
    const auto found = polynomial(first, r / spacing_ - (first + 1));
    return {found[0], found[1]};
  }
  const auto end = polynomial(rows - points, points - 1.0);
  const double x = (cutoff_ - r) / tail;  // 1 at the last row
  for (std::size_t c = 0; c < columns; ++c) {
    const double y = end[0][c], a = -end[1][c] * tail, b = end[2][c] * tail * tail;  // derivatives by x
    const double c3 = 10.0 * y - 4.0 * a + 0.5 * b, c4 = -15.0 * y + 7.0 * a - b, c5 = 6.0 * y - 3.0 * a + 0.5 * b;
    out.value[c] = ((c5 * x + c4) * x + c3) * x * x * x;
    out.slope[c] = -((5.0 * c5 * x + 4.0 * c4) * x + 3.0 * c3) * x * x / tail;
  }
  return out;
}

}  // namespace cambium::submatrix
