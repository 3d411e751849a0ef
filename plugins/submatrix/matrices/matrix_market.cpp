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
  bool hermitian = false;
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
        "the banner specifies skew-symmetric, where the mirrored element is the negative; the submatrix method needs a "
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
  Banner out{words[2] == "array", words[4] != "general", Field::real, words[4] == "hermitian"};
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

/// Real and imaginary part of an element, from the words after its indices.
std::array<double, 2> value_of(io::TextLines& lines, Field field, std::span<const std::string_view> words) {
  if (field == Field::pattern) return {1.0, 0.0};
  const double value = element_in(lines, words[0], "an element");
  if (field == Field::integer && value != std::trunc(value))
    lines.fail(fmt::format("the banner specifies integer, found '{}'; write real in the banner", words[0]));
  return {value, field == Field::complex ? element_in(lines, words[1], "an imaginary part") : 0.0};
}

/// Row and column of element k of an array: column-major, of a triangle those on the diagonal and below.
Place place_in_array(std::int64_t k, int rows, bool one_triangle) {
  if (!one_triangle) return {static_cast<int>(k % rows), static_cast<int>(k / rows)};
  // Columns 0 to c - 1 of the lower triangle hold c rows - c (c - 1) / 2 elements.
  const auto before = [rows](std::int64_t c) { return c * rows - c * (c - 1) / 2; };
  const double n = rows + 0.5;
  auto c = static_cast<std::int64_t>(n - std::sqrt(std::max(n * n - 2.0 * static_cast<double>(k), 0.0)));
  while (c > 0 && before(c) > k) --c;
  while (before(c + 1) <= k) ++c;
  return {static_cast<int>(c + k - before(c)), static_cast<int>(c)};
}

/// Number and meaning of the words expected in a line.
struct Expected {
  std::size_t places, numbers;
  std::string_view words;
};

Expected expected_words(const Banner& banner) {
  static constexpr std::string_view names[] = {"value", "value", "real and imaginary part", ""};
  const auto field = static_cast<std::size_t>(banner.field);
  return {banner.array ? 0U : 2U, std::array{1U, 1U, 2U, 0U}[field],
          banner.array                     ? names[field]
          : banner.field == Field::pattern ? "row and column"
          : banner.field == Field::complex ? "row, column, real and imaginary part"
                                           : "row, column and value"};
}

/// The stored elements of the part, as they stand in the file; zeros of an array only on the diagonal. Returns how many
/// there are.
std::int64_t read_part(io::TextLines& lines, const TextPart& part, const Banner& banner, const Sizes& sizes,
                       std::vector<LatticeEntry>& out) {
  const Expected expected = expected_words(banner);
  std::int64_t found = part.elements_before;
  for (std::vector<std::string_view> words; next_in(lines, part);) {
    io::split(lines.line(), words);
    if (words.empty() || words[0][0] == '%') continue;
    if (found >= sizes.count)
      lines.fail(fmt::format("more than the {} elements that {} announces", sizes.count,
                             banner.array ? "the size of the matrix" : "the line of sizes"));
    if (words.size() != expected.places + expected.numbers)
      lines.fail(fmt::format("expected {}, found {} words; was the file truncated?", expected.words, words.size()));
    const Place at = banner.array ? place_in_array(found, sizes.rows, banner.one_triangle)
                                  : place_in(lines, words[0], words[1], sizes.rows);
    const auto value = value_of(lines, banner.field, std::span(words).subspan(expected.places));
    if (!banner.array || value[0] != 0.0 || value[1] != 0.0 || at.row == at.column)
      out.push_back({{0, 0, 0}, at.row, at.column, value[0], value[1]});
    ++found;
  }
  return found - part.elements_before;
}

}  // namespace

bool is_market_banner(std::string_view line) {
  return in_small_letters(after_signs(line).substr(0, 12)) == "matrixmarket";
}

StoredElements read_matrix_market(io::TextLines& lines, const FileRanks& ranks) {
  Banner banner;
  Sizes sizes;
  StoredElements out;
  ranks.agree([&] {
    banner = banner_of(lines);
    sizes = sizes_of(lines, banner);
  });
  out.path = lines.path();
  out.rows = sizes.rows;
  out.triangle = banner.one_triangle ? Triangle::one : Triangle::both;
  out.sums = true;
  out.complex = banner.field == Field::complex;
  out.conjugate = banner.hermitian;
  const TextPart part = part_of(lines, lines.mark(), ranks);
  std::int64_t found = 0;
  ranks.agree([&] { found = read_part(lines, part, banner, sizes, out.entries); });
  if (found = ranks.sum(found); found != sizes.count)
    throw InputError(
        fmt::format("{}: {} elements announced, {} found; the file is truncated", lines.path(), sizes.count, found));
  if (banner.field == Field::pattern)
    out.notes.push_back(fmt::format("{}: a pattern, every element that it names is 1", lines.path()));
  return out;
}

}  // namespace cambium::submatrix
