#include "plugins/submatrix/matrices/text_elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

namespace cambium::submatrix {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_sign(char c) { return c == '+' || c == '-'; }

std::size_t digits_from(std::string_view word, std::size_t at) {
  while (at < word.size() && is_digit(word[at])) ++at;
  return at;
}

/// Digits and exponent of a number of C or Fortran, in the form that from_chars() reads.
struct Spelling {
  std::string text;
  std::int64_t power = 0;  ///< of ten, of its first digit that is no 0
};

std::optional<Spelling> spelling_of(std::string_view word) {
  Spelling out;
  std::size_t at = 0;
  if (!word.empty() && is_sign(word[0])) out.text = word[at++] == '-' ? "-" : "";
  const std::size_t whole = digits_from(word, at), point = whole < word.size() && word[whole] == '.' ? 1 : 0,
                    end = point ? digits_from(word, whole + 1) : whole;
  if (end - at == point) return std::nullopt;  // no digit
  out.text += (whole == at ? "0" : "") + std::string(word.substr(at, end - at));
  const std::size_t first = word.find_first_of("123456789", at);
  if (first < end)
    out.power = first < whole ? static_cast<std::int64_t>(whole - first) : -static_cast<std::int64_t>(first - whole);
  if (end == word.size()) return out;
  std::size_t exponent = end;
  if (std::string_view("eEdDqQ").find(word[end]) != std::string_view::npos)
    ++exponent;
  else if (!is_sign(word[end]))
    return std::nullopt;
  const std::size_t digits = exponent < word.size() && is_sign(word[exponent]) ? exponent + 1 : exponent;
  if (digits == word.size() || digits_from(word, digits) != word.size()) return std::nullopt;
  out.text += "e" + std::string(word.substr(exponent + (word[exponent] == '+' ? 1 : 0)));
  std::int64_t value = 0;
  for (std::size_t k = digits; k < word.size() && value < 1'000'000'000; ++k) value = 10 * value + (word[k] - '0');
  out.power += word[exponent] == '-' ? -value : value;
  return out;
}

bool place_before(const LatticeEntry& a, const LatticeEntry& b) {
  return std::tie(a.cell, a.row, a.column) < std::tie(b.cell, b.row, b.column);
}

}  // namespace

std::string_view without_mark(const io::TextLines& lines) {
  std::string_view line = lines.line();
  if (lines.number() == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  return line;
}

double element_in(io::TextLines& lines, std::string_view word, std::string_view what) {
  const auto fail = [&] { lines.fail(fmt::format("expected a number for {}, found '{}'", what, word)); };
  const auto spelling = spelling_of(word);
  if (!spelling) fail();
  double value = 0.0;
  const std::string& text = spelling->text;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range && spelling->power < 0) return 0.0;
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) fail();
  return value;
}

Place place_in(io::TextLines& lines, std::string_view row, std::string_view column, int rows) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  const auto value_of = [&](std::string_view word, std::string_view what) {
    const std::int64_t value = lines.integer(word.starts_with('+') ? word.substr(1) : word, what);
    if (value > most) lines.fail(fmt::format("{} {} is more than can be counted; at most {}", what, value, most));
    return value;
  };
  const std::int64_t i = value_of(row, "a row"), j = value_of(column, "a column");
  if (i < 1 || j < 1) lines.fail(fmt::format("row {}, column {}; rows and columns are counted from 1", i, j));
  if (rows > 0 && std::max(i, j) > rows)
    lines.fail(fmt::format("row {}, column {} of a matrix of {} rows", i, j, rows));
  return {static_cast<int>(i) - 1, static_cast<int>(j) - 1};
}

void sum_duplicates(std::vector<LatticeEntry>& entries) {
  std::stable_sort(entries.begin(), entries.end(), place_before);
  std::size_t last = 0;
  for (std::size_t k = 1; k < entries.size(); ++k) {
    if (place_before(entries[last], entries[k]))
      entries[++last] = entries[k];
    else
      entries[last].value += entries[k].value, entries[last].imaginary += entries[k].imaginary;
  }
  if (!entries.empty()) entries.resize(last + 1);
}

std::optional<LatticeEntry> first_duplicate(std::vector<LatticeEntry> entries) {
  std::sort(entries.begin(), entries.end(), place_before);
  const auto found = std::adjacent_find(entries.begin(), entries.end(),
                                        [](const auto& a, const auto& b) { return !place_before(a, b); });
  return found == entries.end() ? std::nullopt : std::optional(*found);
}

void add_mirrored(std::vector<LatticeEntry>& entries, bool conjugate) {
  const auto count = entries.size();
  for (std::size_t k = 0; k < count; ++k) {
    const LatticeEntry entry = entries[k];
    if (entry.row != entry.column)
      entries.push_back(
          {entry.cell, entry.column, entry.row, entry.value, conjugate ? -entry.imaginary : entry.imaginary});
  }
}

}  // namespace cambium::submatrix
