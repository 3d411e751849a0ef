#include "plugins/submatrix/matrices/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"

namespace cambium::submatrix {

namespace {

std::string in_cell(const Cell& cell) {
  return cell == Cell{0, 0, 0} ? std::string() : fmt::format(" of cell ({} {} {})", cell[0], cell[1], cell[2]);
}

bool before(const LatticeEntry& a, const LatticeEntry& b) {
  return std::tie(a.cell, a.row, a.column) < std::tie(b.cell, b.row, b.column);
}

}  // namespace

void check_entries(const std::string& what, const std::vector<LatticeEntry>& entries, int first) {
  constexpr double tolerance = 1e-8;
  std::vector<LatticeEntry> sorted = entries;
  for (const auto& entry : entries)
    if (!std::isfinite(entry.value) || !std::isfinite(entry.imaginary))
      throw InputError(fmt::format("{}{}: the element at row {}, column {} is {}; every element must be finite", what,
                                   in_cell(entry.cell), entry.row + first, entry.column + first, entry.value));
  std::sort(sorted.begin(), sorted.end(), before);
  for (const auto& entry : entries) {
    const LatticeEntry mirror{{-entry.cell[0], -entry.cell[1], -entry.cell[2]}, entry.column, entry.row, 0.0};
    const auto found = std::lower_bound(sorted.begin(), sorted.end(), mirror, before);
    const bool there = found != sorted.end() && !before(mirror, *found);
    const double other = there ? found->value : 0.0, imaginary = there ? -found->imaginary : 0.0;
    if (std::abs(entry.imaginary - imaginary) > tolerance)
      throw InputError(
          fmt::format("{}{}: not Hermitian: an imaginary part of {:.6g} at row {}, column {}, but {:.6g} at the "
                      "mirrored position, where it must be the negative",
                      what, in_cell(entry.cell), entry.imaginary, entry.row + first, entry.column + first, -imaginary));
    if (std::abs(entry.value - other) > tolerance)
      throw InputError(
          fmt::format("{}{}: not symmetric: {:.6g} at row {}, column {}, but {:.6g} at the mirrored position; the "
                      "submatrix method needs a symmetric matrix, both of whose triangles are alike",
                      what, in_cell(entry.cell), entry.value, entry.row + first, entry.column + first, other));
  }
}

}  // namespace cambium::submatrix
