#include "plugins/submatrix/matrices/stored_elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/error.hpp"

namespace cambium::submatrix {

namespace {

/// A file of a symmetric matrix holds one triangle. If it has both an element and its mirror image, it is not defined
/// whether they should be summed.
void require_one_of_each_pair(const std::string& path, const std::vector<LatticeEntry>& entries) {
  auto lower = entries;
  for (auto& entry : lower)
    if (entry.row < entry.column) std::swap(entry.row, entry.column), entry.cell[0] = 1;  // marks those from above
  std::sort(lower.begin(), lower.end(), [](const auto& a, const auto& b) {
    return std::tie(a.row, a.column, a.cell) < std::tie(b.row, b.column, b.cell);
  });
  for (std::size_t k = 1; k < lower.size(); ++k)
    if (lower[k].row == lower[k - 1].row && lower[k].column == lower[k - 1].column &&
        lower[k].cell != lower[k - 1].cell)
      throw InputError(
          fmt::format("{}: row {}, column {} and row {}, column {} are both there, but the banner specifies that one "
                      "triangle is stored; leave one of them out, or write general in the banner",
                      path, lower[k].row + 1, lower[k].column + 1, lower[k].column + 1, lower[k].row + 1));
}

bool holds_element(const io::TextLines& lines) {
  const std::string& line = lines.line();
  const auto at = line.find_first_not_of(" \t\r");
  return at != std::string::npos && line[at] != '%';
}

}  // namespace

void complete(StoredElements& stored) {
  if (!stored.sums)
    if (const auto twice = first_duplicate(stored.entries))
      throw InputError(
          fmt::format("{}: row {}, column {} is there twice; in Matrix Market files (which begin with "
                      "'%%MatrixMarket') such elements are added up, elsewhere their meaning is not defined",
                      stored.path, twice->row + 1, twice->column + 1));
  if (stored.triangle == Triangle::one) {
    if (stored.sums) require_one_of_each_pair(stored.path, stored.entries);
    add_mirrored(stored.entries, stored.conjugate);
  }
  if (stored.sums) sum_duplicates(stored.entries);
}

void require_elements(const StoredElements& stored, const FileRanks& ranks) {
  const std::int64_t elements = ranks.sum(std::ssize(stored.entries));
  if (elements == 0) throw InputError(fmt::format("{} holds no elements; was the file truncated?", stored.path));
  if (static_cast<double>(stored.rows) > 1e6 + 100.0 * static_cast<double>(elements))
    throw InputError(
        fmt::format("{}: {} rows, but only {} elements; was the file changed?", stored.path, stored.rows, elements));
}

void find_triangle(StoredElements& stored, const FileRanks& ranks) {
  if (stored.triangle != Triangle::as_found) return;
  int upper = 0, lower = 0;
  for (const auto& entry : stored.entries) {
    upper |= entry.column > entry.row ? 1 : 0;
    lower |= entry.column < entry.row ? 1 : 0;
  }
  stored.triangle = ranks.max(upper) != ranks.max(lower) ? Triangle::one : Triangle::both;
}

TextPart part_of(io::TextLines& lines, io::TextLines::Mark head, const FileRanks& ranks) {
  TextPart out;
  out.begin = head;
  std::int64_t own_lines = 0, own_elements = 0;
  ranks.agree([&] {
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(lines.path())) - head.offset;
    out.end = head.offset + ranks.first(bytes, ranks.rank() + 1);
    const auto begin = head.offset + ranks.first(bytes, ranks.rank());
    if (ranks.size() == 1) return;
    if (begin > head.offset) {  // a line belongs to the part in which it begins
      lines.go_to({begin - 1, 0});
      lines.next();
      out.begin = lines.mark();
    }
    lines.go_to(out.begin);
    while (next_in(lines, out)) {
      ++own_lines;
      own_elements += holds_element(lines) ? 1 : 0;
    }
  });
  out.begin.number = head.number + ranks.before(own_lines);
  out.elements_before = ranks.before(own_elements);
  lines.go_to(out.begin);
  return out;
}

bool next_in(io::TextLines& lines, const TextPart& part) { return lines.mark().offset < part.end && lines.next(); }

}  // namespace cambium::submatrix
