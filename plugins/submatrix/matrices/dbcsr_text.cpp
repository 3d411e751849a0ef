#include "plugins/submatrix/matrices/dbcsr_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/error.hpp"

namespace cambium::submatrix {

namespace {

constexpr std::string_view head_word = "dbcsr_print";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view() : text.substr(first, last - first + 1);
}

/// Contents of the headers: size of the matrix, and number and symmetry of the elements that follow.
struct DbcsrHead {
  std::int64_t rows = 0, announced = 0;
  bool symmetric = false;
};

/// Integers in a text, with any separators.
std::vector<std::int64_t> numbers_in(std::string_view text) {
  std::vector<std::int64_t> out;
  for (std::size_t k = 0; k < text.size();) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + k, text.data() + text.size(), value);
    if (error == std::errc()) out.push_back(value);
    k = error == std::errc() ? static_cast<std::size_t>(end - text.data()) : k + 1;
  }
  return out;
}

void read_head(io::TextLines& lines, std::string_view line, DbcsrHead& head) {
  const std::string_view rest = trimmed(line.substr(line.find(head_word) + head_word.size()));
  if (rest.starts_with("Flags")) {
    const std::string_view symmetry = trimmed(rest.substr(5));
    if (symmetry.starts_with('A') || symmetry.starts_with('K'))
      lines.fail("the matrix is antisymmetric (DBCSR's flag A or K); the submatrix method needs a symmetric matrix");
    head.symmetric |= symmetry.starts_with('S') || symmetry.starts_with('H');
  } else if (rest.starts_with("Full size")) {
    const auto size = numbers_in(rest);
    if (size.size() != 2)
      lines.fail(fmt::format("expected two sizes, found '{}'; DBCSR prints up to 99,999 rows", rest));
    if (size[0] != size[1])
      lines.fail(fmt::format("{} rows and {} columns; the matrix must be square", size[0], size[1]));
    head.rows = std::max(head.rows, size[0]);
  } else if (rest.find("nzes,") != std::string_view::npos) {
    if (const auto counts = numbers_in(rest); counts.size() >= 2) head.announced += counts[1];
  }
}

/// "name(row,column)=value;" or "name(row,column)=real+imaginaryi;"
LatticeEntry read_element(io::TextLines& lines, std::string_view line, bool& complex) {
  const auto fail = [&] {
    lines.fail(fmt::format("expected an element as DBCSR writes it, 'a(1,2)=0.5;', found '{}'; was the file truncated?",
                           line));
  };
  const auto open = line.find('('), comma = line.find(','), close = line.find(")=");
  if (open == std::string_view::npos || comma == std::string_view::npos || close == std::string_view::npos ||
      !(open < comma && comma < close) || line.back() != ';')
    fail();
  const std::string_view row = trimmed(line.substr(open + 1, comma - open - 1)),
                         column = trimmed(line.substr(comma + 1, close - comma - 1));
  if (row.find('*') != std::string_view::npos || column.find('*') != std::string_view::npos)
    lines.fail(
        fmt::format("'{}': DBCSR prints rows up to 9,999 (999 of complex matrices) in this form; write the "
                    "matrix as CSR (in CP2K: KS_CSR_WRITE) or as Matrix Market",
                    line));
  const Place at = place_in(lines, row, column, 0);
  std::string_view value = trimmed(line.substr(close + 2, line.size() - close - 3));
  LatticeEntry out{{0, 0, 0}, at.row, at.column, 0.0};
  if (value.ends_with('i')) {
    complex = true;
    value.remove_suffix(1);
    // Fortran separates the parts by a plus, whatever the sign of the second one; an exponent follows a letter.
    std::size_t plus = value.find('+', 1);
    while (plus != std::string_view::npos && std::string_view("eEdD").find(value[plus - 1]) != std::string_view::npos)
      plus = value.find('+', plus + 1);
    if (plus == std::string_view::npos) fail();
    out.imaginary = element_in(lines, trimmed(value.substr(plus + 1)), "an imaginary part");
    value = trimmed(value.substr(0, plus));
  }
  out.value = element_in(lines, value, "an element");
  return out;
}

void read_part(io::TextLines& lines, const TextPart& part, DbcsrHead& head, StoredElements& out) {
  while (next_in(lines, part)) {
    const std::string_view line = trimmed(without_mark(lines));
    if (line.empty() || line.starts_with('%')) continue;
    if (line.starts_with("Checksum for"))
      lines.fail(
          "the blocks are printed with four decimals; print the matrix with matlab_format=.TRUE., which has sixteen "
          "digits");
    if (line.find(head_word) != std::string_view::npos && line.find(")=") == std::string_view::npos)
      read_head(lines, line, head);
    else
      out.entries.push_back(read_element(lines, line, out.complex));
  }
}

}  // namespace

bool is_dbcsr_line(std::string_view line) {
  if (line.find(head_word) != std::string_view::npos) return true;
  const auto open = line.find('('), close = line.find(")=");
  return open != std::string_view::npos && close != std::string_view::npos && open < close &&
         line.substr(open, close - open).find(',') != std::string_view::npos;
}

StoredElements read_dbcsr_text(io::TextLines& lines, io::TextLines::Mark mark, const FileRanks& ranks) {
  StoredElements out{lines.path(), 0, {}, Triangle::as_found};
  DbcsrHead head;
  const TextPart part = part_of(lines, mark, ranks);
  ranks.agree([&] { read_part(lines, part, head, out); });
  int rows = static_cast<int>(std::min<std::int64_t>(head.rows, std::numeric_limits<int>::max()));
  for (const auto& entry : out.entries) rows = std::max({rows, entry.row + 1, entry.column + 1});
  const int said = ranks.max(static_cast<int>(std::min<std::int64_t>(head.rows, rows)));
  out.rows = ranks.max(rows);
  if (said > 0 && out.rows > said)
    throw InputError(
        fmt::format("{}: an element in row or column {} of a matrix of {} rows", out.path, out.rows, said));
  const auto announced = ranks.sum(head.announced), found = ranks.sum(std::ssize(out.entries));
  if (announced > 0 && announced != found)
    throw InputError(fmt::format("{}: {} elements announced by the heads of DBCSR, {} found; the file is truncated",
                                 out.path, announced, found));
  out.complex = ranks.max(out.complex ? 1 : 0) > 0;
  if (ranks.max(head.symmetric ? 1 : 0) > 0) out.triangle = Triangle::one;
  return out;
}

}  // namespace cambium::submatrix
