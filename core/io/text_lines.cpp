#include "core/io/text_lines.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>

#include "core/base/error.hpp"

namespace cambium::io {

std::vector<std::string_view> split(std::string_view line) {
  constexpr std::string_view blanks = " \t\r";
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(blanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(blanks, end);
  }
  return words;
}

TextLines::TextLines(const std::string& path) : path_(path), file_(path, std::ios::binary) {
  if (!file_) throw InputError(fmt::format("cannot open '{}': {}; check the path", path, std::strerror(errno)));
}

bool TextLines::next() {
  if (!std::getline(file_, line_)) return false;
  if (!line_.empty() && line_.back() == '\r') line_.pop_back();
  ++number_;
  return true;
}

TextLines::Mark TextLines::mark() {
  const auto offset = file_.eof() ? std::streamoff{-1} : static_cast<std::streamoff>(file_.tellg());
  return {offset, number_};
}

void TextLines::go_to(Mark mark) {
  file_.clear();
  file_.seekg(mark.offset);
  number_ = mark.number;
}

void TextLines::fail(const std::string& text) const {
  throw InputError(fmt::format("{}:{}: {}", path_, number_, text));
}

double TextLines::real(std::string_view word, std::string_view what) const {
  double value = 0.0;
  const char* first = word.data() + (word.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(first, word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value))
    fail(fmt::format("expected a number for {}, found '{}'", what, word));
  return value;
}

std::int64_t TextLines::integer(std::string_view word, std::string_view what) const {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size())
    fail(fmt::format("expected a whole number for {}, found '{}'", what, word));
  return value;
}

}  // namespace cambium::io
