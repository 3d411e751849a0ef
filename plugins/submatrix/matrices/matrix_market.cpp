#include "plugins/submatrix/matrices/matrix_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "plugins/submatrix/matrices/text_elements.hpp"

namespace cambium::submatrix {

namespace {

std::string in_small_letters(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

/// Percent signs and blanks before the word of a banner are no part of it.
std::string_view after_signs(std::string_view line) {
  const auto at = line.find_first_not_of("% \t");
  return at == std::string_view::npos ? std::string_view() : line.substr(at);
}

enum class Field { real, integer, complex, pattern };

struct Banner {
  bool array = false, one_triangle = false;
  Field field = Field::real;
};

template <std::size_t n>
bool is_one_of(const std::string& word, const std::array<std::string_view, n>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

Banner banner_of(io::TextLines& lines) {
  const std::string text = in_small_letters(after_signs(without_mark(lines)));
  std::vector<std::string> words;
  for (const auto word : io::split(text)) words.emplace_back(word);
  using Words2 = std::array<std::string_view, 2>;
  if (words.size() == 5 && words[4] == "skew-symmetric")
    lines.fail(
        "the banner says skew-symmetric, where the mirrored element is the negative; the submatrix method needs a "
        "symmetric matrix");
  if (words.size() != 5 || words[0] != "matrixmarket" || words[1] != "matrix" ||
      !is_one_of(words[2], Words2{"coordinate", "array"}) ||
      !is_one_of(words[3], std::array<std::string_view, 6>{"real", "double", "integer", "unsigned-integer", "complex",
                                                           "pattern"}) ||
      !is_one_of(words[4], std::array<std::string_view, 3>{"general", "symmetric", "hermitian"}) ||
      (words[2] == "array" && words[3] == "pattern"))
    lines.fail(
        fmt::format("expected '%%MatrixMarket matrix', then coordinate or array, then real, integer, complex or (with "
                    "coordinate) pattern, then general, symmetric or hermitian; found '{}'",
                    without_mark(lines)));
  Banner out{words[2] == "array", words[4] != "general", Field::real};
  if (words[3].ends_with("integer")) out.field = Field::integer;
  if (words[3] == "complex") out.field = Field::complex;
  if (words[3] == "pattern") out.field = Field::pattern;
  return out;
}

/// The words of the next line that is neither blank nor a remark; none at the end of the file.
std::vector<std::string_view> next_words(io::TextLines& lines) {
  while (lines.next())
    if (auto words = io::split(lines.line()); !words.empty() && words[0][0] != '%') return words;
  return {};
}

struct Sizes {
  int rows = 0;
  std::int64_t count = 0;  ///< of stored elements
};

Sizes sizes_of(io::TextLines& lines, const Banner& banner) {
  const auto words = next_words(lines);
  if (words.size() != (banner.array ? 2 : 3))
    lines.fail(banner.array ? "expected the numbers of rows and columns"
                            : "expected the numbers of rows, columns and elements");
  const auto rows = lines.integer(words[0], "the number of rows"),
             columns = lines.integer(words[1], "the number of columns");
  if (rows < 1 || rows > std::numeric_limits<int>::max())
    lines.fail(fmt::format("{} rows; expected 1 to {}", rows, std::numeric_limits<int>::max()));
  if (rows != columns) lines.fail(fmt::format("{} rows and {} columns; the matrix must be square", rows, columns));
  const std::int64_t all = banner.one_triangle ? rows * (rows + 1) / 2 : rows * rows;
  return {static_cast<int>(rows), banner.array ? all : lines.integer(words[2], "the number of elements")};
}

/// Value of an element, from the words after its place.
double value_of(io::TextLines& lines, Field field, std::span<const std::string_view> words) {
  if (field == Field::pattern) return 1.0;
  const double value = element_in(lines, words[0], "an element");
  if (field == Field::integer && value != std::trunc(value))
    lines.fail(fmt::format("the banner says integer, found '{}'; write real in the banner", words[0]));
  if (field == Field::complex)
    if (const double imaginary = element_in(lines, words[1], "an imaginary part"); imaginary != 0.0)
      lines.fail(fmt::format("an imaginary part of {:g}; the submatrix method needs a real matrix", imaginary));
  return value;
}

/// The stored elements, as they stand in the file; zeros of an array only on the diagonal.
std::vector<LatticeEntry> stored_elements(io::TextLines& lines, const Banner& banner, const Sizes& sizes) {
  static constexpr std::string_view names[] = {"value", "value", "real and imaginary part", ""};
  const auto numbers = std::array{1U, 1U, 2U, 0U}[static_cast<std::size_t>(banner.field)];
  const std::string_view name = names[static_cast<std::size_t>(banner.field)];
  const auto expected = banner.array                     ? std::string(name)
                        : banner.field == Field::pattern ? "row and column"
                        : banner.field == Field::complex ? "row, column, real and imaginary part"
                                                         : "row, column and value";
  const std::size_t skipped = banner.array ? 0 : 2;
  std::vector<LatticeEntry> out;
  std::int64_t found = 0;
  Place next{0, 0};  // of an array
  for (auto words = next_words(lines); !words.empty(); words = next_words(lines), ++found) {
    if (found >= sizes.count)
      lines.fail(fmt::format("more than the {} elements that {} announces", sizes.count,
                             banner.array ? "the size of the matrix" : "the line of sizes"));
    if (words.size() != skipped + numbers)
      lines.fail(fmt::format("expected {}, found {} words; was the file truncated?", expected, words.size()));
    const Place at = banner.array ? next : place_in(lines, words[0], words[1], sizes.rows);
    const double value = value_of(lines, banner.field, std::span(words).subspan(skipped));
    if (!banner.array || value != 0.0 || at.row == at.column) out.push_back({{0, 0, 0}, at.row, at.column, value});
    if (++next.row == sizes.rows) ++next.column, next.row = banner.one_triangle ? next.column : 0;
  }
  if (found != sizes.count)
    throw InputError(
        fmt::format("{}: {} elements announced, {} found; the file is truncated", lines.path(), sizes.count, found));
  return out;
}

/// A file of a symmetric matrix holds one triangle. Whether both of an element and its mirror image were meant to be
/// added up, no rule says.
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
          fmt::format("{}: row {}, column {} and row {}, column {} are both there, but the banner says that one "
                      "triangle is stored; "
                      "leave one of them out, or write general in the banner",
                      path, lower[k].row + 1, lower[k].column + 1, lower[k].column + 1, lower[k].row + 1));
}

}  // namespace

bool is_market_banner(std::string_view line) {
  return in_small_letters(after_signs(line).substr(0, 12)) == "matrixmarket";
}

MatrixFile read_matrix_market(io::TextLines& lines) {
  const Banner banner = banner_of(lines);
  const Sizes sizes = sizes_of(lines, banner);
  MatrixFile out;
  out.rows = sizes.rows;
  out.entries = stored_elements(lines, banner, sizes);
  if (banner.one_triangle) {
    require_one_of_each_pair(lines.path(), out.entries);
    add_mirrored(out.entries);
  }
  sum_duplicates(out.entries);
  if (banner.field == Field::pattern)
    out.notes.push_back(fmt::format("{}: a pattern, every element that it names is 1", lines.path()));
  return out;
}

}  // namespace cambium::submatrix
