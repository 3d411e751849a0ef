#include "core/io/table_lines.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/text_lines.hpp"

namespace cambium::io {

TableLines::TableLines(const std::string& path) : path_(path), in_(path, std::ios::binary) {
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
  } while (trim(line_).empty());
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
