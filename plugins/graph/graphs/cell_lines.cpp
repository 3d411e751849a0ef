#include "plugins/graph/graphs/cell_lines.hpp"

#include <charconv>
#include <cmath>

#include "core/io/commas.hpp"

namespace cambium::graph {

namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Returns the end of a quoted cell that begins at `at`, as spreadsheets write texts with separators; `at` if there is
/// none.
std::size_t behind_cell(std::string_view line, std::size_t at) {
  if (at >= line.size() || line[at] != '"' ||
      (at > 0 && std::string_view(",;:\t ").find(line[at - 1]) == std::string_view::npos))
    return at;
  const auto end = line.find('"', at + 1);
  return end == std::string_view::npos ? at : end + 1;
}

/// Start of a comment: #, % or //.
std::size_t remark_in(std::string_view line) {
  for (std::size_t k = 0; k < line.size(); ++k)
    if (const auto end = behind_cell(line, k); end > k)
      k = end - 1;
    else if (line[k] == '#' || line[k] == '%' || (line[k] == '/' && k + 1 < line.size() && line[k + 1] == '/'))
      return k;
  return std::string_view::npos;
}

std::optional<double> number_in(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  double value = 0.0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) return {};
  return value;
}

/// Separator of the cells of a line; empty: blanks.
std::string_view mark_in(std::string_view line) {
  std::string outside;  // outside of quotation marks, if there are any
  const bool quoted = line.find('"') != std::string_view::npos;
  for (std::size_t k = 0; quoted && k < line.size(); ++k)
    if (const auto end = behind_cell(line, k); end > k)
      k = end - 1;
    else
      outside += line[k];
  const std::string_view looked = quoted ? outside : line;
  const auto has = [&](std::string_view mark) { return looked.find(mark) != std::string_view::npos; };
  if (has(";")) return ";";
  if (has(",")) return has("\t") ? "\t" : ",";
  return has("::") ? "::" : "";
}

/// A cell without surrounding blanks and quotation marks.
std::string_view bare_cell(std::string_view cell) {
  cell = trimmed(cell);
  if (cell.size() >= 2 && (cell.front() == '"' || cell.front() == '\'') && cell.back() == cell.front())
    cell = trimmed(cell.substr(1, cell.size() - 2));
  return cell;
}

void cut_at(std::string_view line, std::string_view mark, std::vector<std::string_view>& out) {
  std::size_t at = 0;
  if (mark.empty()) {
    constexpr std::string_view blanks = " \t";
    while (at < line.size()) {
      const auto end = std::min(line.find_first_of(blanks, at), line.size());
      out.push_back(bare_cell(line.substr(at, end - at)));
      at = std::min(line.find_first_not_of(blanks, end), line.size());
    }
    return;
  }
  const auto next = [&] {
    return line.find(mark, behind_cell(line, std::min(line.find_first_not_of(" \t", at), line.size())));
  };
  for (auto end = next(); end != std::string_view::npos; end = next()) {
    out.push_back(bare_cell(line.substr(at, end - at)));
    at = end + mark.size();
  }
  out.push_back(bare_cell(line.substr(at)));
}

/// A comment without its comment characters.
std::string_view text_of_remark(std::string_view remark) {
  const auto first = remark.find_first_not_of("#%/ \t");
  return first == std::string_view::npos ? std::string_view() : trimmed(remark.substr(first));
}

/// Returns the end of a quoted text that begins at `at`; the end of the line if the quote is not closed.
std::size_t behind_quoted(std::string_view text, std::size_t at) {
  const char mark = text[at];
  for (++at; at < text.size() && text[at] != mark; ++at)
    if (text[at] == '\\') ++at;
  return std::min(text.size(), at + 1);
}

}  // namespace

std::optional<double> number_of_key(std::string_view dictionary, std::string_view key, bool& wrong) {
  for (std::size_t at = 0; at < dictionary.size();) {
    const auto open = dictionary.find_first_of("'\"", at);
    if (open == std::string_view::npos) return {};
    const auto behind = behind_quoted(dictionary, open);
    const auto name = dictionary.substr(open + 1, behind - open - 2);
    auto end = dictionary.find(':', behind);
    if (end == std::string_view::npos) return {};
    const auto begin = ++end;
    for (int depth = 0; end < dictionary.size() && (depth > 0 || dictionary[end] != ',');) {
      const char c = dictionary[end];
      depth += c == '[' || c == '(' || c == '{' ? 1 : c == ']' || c == ')' || c == '}' ? -1 : 0;
      end = c == '\'' || c == '"' ? behind_quoted(dictionary, end) : end + 1;
    }
    if (name == key) {
      const auto value = number_in(trimmed(dictionary.substr(begin, end - begin)));
      wrong = !value;
      return value;
    }
    at = end + 1;
  }
  return {};
}

bool CellLines::next() {
  while (lines_.next()) {
    std::string_view line = lines_.line();
    if (lines_.number() == 1 && line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);
    line = trimmed(line);
    if (line.empty()) continue;
    if (remark_in(line) == 0) {
      take_remark(line);
      continue;
    }
    cut(without_remark(line));
    if (cells_.empty()) continue;
    begun_ = true;
    return true;
  }
  return false;
}

void CellLines::take_remark(std::string_view line) {
  const auto text = text_of_remark(line);
  if (begun_) {
    numbers_between_ += whole(text) ? 1 : 0;
    return;
  }
  last_remark_ = text;
  if (remarks_.size() < 10) remarks_.emplace_back(line);
}

std::vector<std::string_view> CellLines::remark_cells() const {
  std::vector<std::string_view> out;
  if (!last_remark_.empty()) cut_at(last_remark_, mark_in(last_remark_), out);
  return out;
}

/// Returns the part of a line with cells and stores the dictionary that follows them.
std::string_view CellLines::without_remark(std::string_view line) {
  attributes_.reset();
  const auto open = line.find('{'), remark = remark_in(line);
  if (open == std::string_view::npos || remark < open) return trimmed(line.substr(0, remark));
  std::size_t close = open + 1;
  for (int depth = 1; close < line.size();
       close = line[close] == '\'' || line[close] == '"' ? behind_quoted(line, close) : close + 1) {
    if (line[close] == '{') ++depth;
    if (line[close] == '}' && --depth == 0) break;
  }
  if (close >= line.size()) fail("the attributes that begin with '{' have no '}'; is the file cut short?");
  const auto rest = trimmed(line.substr(close + 1));
  if (!rest.empty() && remark_in(rest) != 0) fail("only a comment may follow the attributes between '{' and '}'");
  attributes_ = line.substr(open + 1, close - open - 1);
  auto cells = trimmed(line.substr(0, open));
  while (!cells.empty() && std::string_view(",;:").find(cells.back()) != std::string_view::npos) cells.remove_suffix(1);
  return cells;
}

void CellLines::cut(std::string_view line) {
  cells_.clear();
  decimal_comma_ = false;
  if (line.empty()) return;
  const auto mark = mark_in(line);
  decimal_comma_ = !mark.empty() && mark != ",";
  cut_at(line, mark, cells_);
}

std::optional<double> CellLines::real(std::string_view cell) const {
  if (decimal_comma_ && cell.find(',') != std::string_view::npos) {
    std::string text(cell);
    text[text.find(',')] = '.';
    return number_in(text);
  }
  return number_in(cell);
}

std::optional<std::int64_t> CellLines::whole(std::string_view cell) const {
  std::int64_t value = 0;
  const auto begin = cell.data() + (cell.size() > 1 && cell.front() == '+' && cell[1] != '-' ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, cell.data() + cell.size(), value);
  if (error == std::errc() && end == cell.data() + cell.size()) return value;
  if (io::Commas::is_grouped(cell)) return {};  // 12,000 may be 12 or 12000
  constexpr double exact = 9007199254740992.0;  // doubles represent all integers up to here
  const auto number = real(cell);
  if (!number || *number != std::floor(*number) || std::abs(*number) > exact) return {};
  return static_cast<std::int64_t>(*number);
}

}  // namespace cambium::graph
