#include "core/io/table_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/text_lines.hpp"

namespace cambium::io {

static std::string in_small_letters(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Characters of numbers, words and quoted cells separate nothing.
static bool may_separate(char c) {
  return !std::isalnum(static_cast<unsigned char>(c)) &&
         std::string_view("\"'.+-_\r\n").find(c) == std::string_view::npos;
}

std::optional<char> separator_named(std::string_view text) {
  if (text == "auto") return '\0';
  if (text == "tab" || text == "\\t") return '\t';
  if (text.size() != 1 || !may_separate(text.front())) return {};
  return text.front();
}

bool is_missing_cell(std::string_view cell) {
  static constexpr std::array<std::string_view, 19> words{
      "",     "nan", "na",       "n/a", "none",   "null",    "-",       "--",       "?",   "<na>",
      "#n/a", "#na", "#n/a n/a", ".",   "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan", "-nan"};
  /// Of a spreadsheet's formula.
  static constexpr std::array<std::string_view, 6> failures{"#div/0!", "#value!", "#num!", "#ref!", "#name?", "#null!"};
  const auto word = in_small_letters(cell);
  const auto among = [&](const auto& list) { return std::find(list.begin(), list.end(), word) != list.end(); };
  return among(words) || among(failures);
}

TableLines::TableLines(const std::string& path, char separator)
    : path_(path), in_(path, std::ios::binary), given_(separator), separator_(separator) {
  if (!in_) throw InputError(fmt::format("'{}' cannot be read", path));
  TextLines{path};  // refuses files that are not text
}

std::string TableLines::where() const { return fmt::format("{}:{}", path_, first_line_); }

bool TableLines::next_line() {
  if (!std::getline(in_, line_)) return false;
  if (++line_number_ == 1 && line_.starts_with("\xef\xbb\xbf")) line_.erase(0, 3);  // a mark of spreadsheets
  if (!line_.empty() && line_.back() == '\r') line_.pop_back();
  return true;
}

/// True for a first line "sep=;", as spreadsheets write and read it, possibly in quotation marks; sets the separator.
bool TableLines::declares_separator() {
  if (line_number_ != 1) return false;
  std::string_view text = line_;
  if (text.size() > 1 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  if (in_small_letters(text.substr(0, 4)) != "sep=") return false;
  const auto named = text.substr(4);
  if (named.size() != 1 || !may_separate(named.front()))
    throw InputError(
        fmt::format("{}:1: '{}' declares no separator of one character; correct or remove this line", path_, line_));
  if (given_ != '\0' && given_ != named.front())
    throw InputError(fmt::format(
        "{}:1: '{}' declares another separator than the key 'delimiter'; remove one of the two", path_, line_));
  given_ = separator_ = named.front();
  return true;
}

/// By the header line: the first of tab, semicolon and comma that occurs outside quotation marks.
void TableLines::choose_separator() {
  bool quoted = false;
  std::string outside;
  for (const char c : line_) {
    if (c == '"') quoted = !quoted;
    if (!quoted) outside += c;
  }
  separator_ = ',';
  for (const char c : {';', '\t'})
    if (outside.find(c) != std::string::npos) separator_ = c;
}

/// Adds the cells of a line; false if its last cell continues on the next one. A quotation mark after other characters
/// is literal, as in 2',3"-dichloro.
bool TableLines::add_cells() {
  for (std::size_t k = 0; k < line_.size(); ++k) {
    const char c = line_[k];
    if (c == '"' && quoted_ && k + 1 < line_.size() && line_[k + 1] == '"')
      cells_.back() += c, ++k;
    else if (c == '"' && quoted_)
      quoted_ = false;
    else if (c == '"' && trim(cells_.back()).empty())
      quoted_ = true;
    else if (c == separator_ && !quoted_)
      cells_.emplace_back();
    else
      cells_.back() += c;
  }
  return !quoted_;
}

bool TableLines::next() {
  do {
    if (!next_line()) return false;
  } while (trim(line_).empty() || declares_separator());
  first_line_ = line_number_;
  if (separator_ == '\0') choose_separator();
  cells_.assign(1, {});
  quoted_ = false;
  while (!add_cells()) {
    if (!next_line())
      throw InputError(fmt::format("{}: a quotation mark is not closed; is the file cut short?", where()));
    cells_.back() += '\n';
  }
  for (auto& cell : cells_) cell = std::string(trim(cell));
  return true;
}

}  // namespace cambium::io
