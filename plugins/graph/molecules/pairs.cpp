#include "plugins/graph/molecules/pairs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace cambium::graph {

namespace {

using Vector = std::array<double, 3>;

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// Cell vectors, and reciprocal vectors along periodic directions, else zeros.
struct Cell {
  std::array<Vector, 3> row{}, reciprocal{};
  std::array<int, 3> reach{};                               ///< images to search on each side of the nearest one
  double height = std::numeric_limits<double>::infinity();  ///< smallest distance of opposite faces; 0 for a flat cell

  Cell(const std::array<double, 9>& given, double cutoff) {
    std::array<bool, 3> periodic{};
    for (std::size_t k = 0; k < 3; ++k) {
      row[k] = {given[3 * k], given[3 * k + 1], given[3 * k + 2]};
      periodic[k] = dot(row[k], row[k]) > 0.0;
    }
    const auto whole = completed(periodic);
    for (std::size_t k = 0; k < 3; ++k) {
      if (!periodic[k]) continue;
      reciprocal[k] = cross(whole[(k + 1) % 3], whole[(k + 2) % 3]);
      const double volume = dot(whole[k], reciprocal[k]), area = std::sqrt(dot(reciprocal[k], reciprocal[k]));
      height = area > 0.0 ? std::min(height, std::abs(volume) / area) : 0.0;
      if (!(height > 0.0)) return;
      for (double& x : reciprocal[k]) x /= volume;
      reach[k] = static_cast<int>(std::floor(cutoff * std::sqrt(dot(reciprocal[k], reciprocal[k])) + 0.5));
    }
  }

 private:
  /// Replaces the vectors of non-periodic directions by ones perpendicular to the others.
  std::array<Vector, 3> completed(const std::array<bool, 3>& periodic) const {
    auto out = row;
    for (std::size_t k = 0; k < 3; ++k) {
      if (periodic[k]) continue;
      const auto &a = out[(k + 1) % 3], &b = out[(k + 2) % 3];
      out[k] = cross(a, b);
      for (std::size_t x = 0; x < 3 && dot(out[k], out[k]) == 0.0; ++x) {  // fewer than two vectors so far
        Vector axis{};
        axis[x] = 1.0;
        out[k] = dot(a, a) > 0.0 ? cross(a, axis) : dot(b, b) > 0.0 ? cross(b, axis) : axis;
      }
    }
    return out;
  }
};

void add_images(const Cell& cell, const Vector& apart, double cutoff, bool itself, std::int64_t a, std::int64_t b,
                AtomPairs& out) {
  std::array<int, 3> nearest{};
  for (std::size_t k = 0; k < 3; ++k) nearest[k] = -static_cast<int>(std::lround(dot(apart, cell.reciprocal[k])));
  for (int i = -cell.reach[0]; i <= cell.reach[0]; ++i)
    for (int j = -cell.reach[1]; j <= cell.reach[1]; ++j)
      for (int k = -cell.reach[2]; k <= cell.reach[2]; ++k) {
        if (itself && std::array{i, j, k} <= std::array{0, 0, 0}) continue;  // one of two opposite images
        Vector shift{}, d{};
        for (std::size_t x = 0; x < 3; ++x) {
          shift[x] =
              (nearest[0] + i) * cell.row[0][x] + (nearest[1] + j) * cell.row[1][x] + (nearest[2] + k) * cell.row[2][x];
          d[x] = apart[x] + shift[x];
        }
        if (!(dot(d, d) < cutoff * cutoff)) continue;
        out.first.push_back(a);
        out.second.push_back(b);
        out.shift.insert(out.shift.end(), shift.begin(), shift.end());
      }
}

}  // namespace

double smallest_height(const std::array<double, 9>& cell) { return Cell(cell, 0.0).height; }

void add_pairs(const MoleculeView& m, double cutoff, std::int64_t atom, AtomPairs& out) {
  const Cell cell(m.cell, cutoff);
  for (std::int64_t a = 0; a < m.atoms(); ++a)
    for (std::int64_t b = a; b < m.atoms(); ++b) {
      Vector apart{};
      for (std::size_t x = 0; x < 3; ++x) apart[x] = m.position[3 * b + x] - m.position[3 * a + x];
      add_images(cell, apart, cutoff, a == b, atom + a, atom + b, out);
    }
}

}  // namespace cambium::graph
