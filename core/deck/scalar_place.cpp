#include "core/deck/scalar_place.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace cambium::deck {

namespace {

bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }  // a character of UTF-8

/// Walks through source and text together; blanks and ends of lines of any number stand for each other.
class Walk {
 public:
  Walk(std::string_view source, std::size_t at, std::string_view text) : source_(source), at_(at), text_(text) {
    quote_ = at_ < source_.size() && (source_[at_] == '"' || source_[at_] == '\'') ? source_[at_] : '\0';
    if (quote_ != '\0') ++at_;
    if (at_ < source_.size() && (source_[at_] == '|' || source_[at_] == '>'))
      at_ = std::min(source_.find('\n', at_), source_.size());
    skip_blanks();
  }

  /// To byte `index` of the text; none when they part before.
  std::optional<std::size_t> to(std::size_t index) {
    for (std::size_t k = 0; k < index; ++k) {
      if (blank(text_[k])) {
        skip_blanks();
      } else if (!pass(text_[k])) {
        return std::nullopt;
      }
    }
    if (index >= text_.size()) return at_;
    if (!blank(text_[index])) skip_blanks();
    return at_;
  }

 private:
  void skip_blanks() {
    while (at_ < source_.size() && blank(source_[at_])) ++at_;
  }
  /// One non-blank character of the text.
  bool pass(char c) {
    if (at_ >= source_.size()) return false;
    const bool doubled = quote_ == '\'' && source_[at_] == '\'', escaped = quote_ == '"' && source_[at_] == '\\';
    if (doubled || escaped) ++at_;
    return at_ < source_.size() && source_[at_++] == c;
  }

  std::string_view source_;
  std::size_t at_;
  std::string_view text_;
  char quote_;
};

std::size_t byte_of(std::string_view text, std::size_t column) {
  std::size_t at = 0;
  for (; at < text.size() && column > 1; --column) do
      ++at;
    while (at < text.size() && continues(text[at]));
  return at;
}

}  // namespace

std::optional<TextPlace> place_in_scalar(std::string_view source, TextPlace begin, std::string_view text,
                                         std::size_t index) {
  std::size_t line_begin = 0;
  for (int line = 1; line < begin.line; ++line) {
    line_begin = source.find('\n', line_begin);
    if (line_begin == std::string_view::npos) return std::nullopt;
    ++line_begin;
  }
  const std::size_t start = line_begin + static_cast<std::size_t>(std::max(begin.column, 1) - 1);
  if (start > source.size()) return std::nullopt;
  if (!Walk(source, start, text).to(text.size())) return std::nullopt;
  const auto at = Walk(source, start, text).to(index);
  if (!at) return std::nullopt;
  TextPlace out{1, 1};
  for (std::size_t k = 0; k < *at; ++k)
    if (source[k] == '\n')
      ++out.line, out.column = 1;
    else if (!continues(source[k]))
      ++out.column;
  return out;
}

TextPlace place_in_file(const std::string& file, TextPlace begin, bool quoted, std::string_view text,
                        std::size_t column) {
  std::ifstream in(file);
  std::stringstream source;
  source << in.rdbuf();
  if (in)
    if (const auto place = place_in_scalar(source.str(), begin, text, byte_of(text, column))) return *place;
  if (text.find('\n') == std::string_view::npos) begin.column += static_cast<int>(column) - 1 + (quoted ? 1 : 0);
  return begin;
}

}  // namespace cambium::deck
