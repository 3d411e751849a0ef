#include "core/io/text_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "core/base/error.hpp"

namespace cambium::io {

namespace {

constexpr std::size_t read_at_once = 1 << 18;

bool between_words(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Strips a leading plus sign, since from_chars accepts minus only.
std::string_view without_plus(std::string_view word) {
  const bool plus = word.size() > 1 && word[0] == '+' && word[1] != '-' && word[1] != '+';
  return plus ? word.substr(1) : word;
}

/// File type by its first bytes, and how to convert it to text; null for text.
struct OtherKind {
  std::string_view start;
  const char *name, *remedy;
};
constexpr OtherKind other_kinds[] = {
    {"\x1F\x8B", "compressed by gzip", "unpack it (gunzip -k)"},
    {"BZh", "compressed by bzip2", "unpack it (bunzip2 -k)"},
    {"\xFD\x37zXZ", "compressed by xz", "unpack it (unxz -k)"},
    {"\x28\xB5\x2F\xFD", "compressed by zstd", "unpack it (unzstd)"},
    {"PK\x03\x04", "a zip archive, as .npz and .xlsx are", "unpack it, or save its table as text"},
    {"\x89HDF\r\n", "an HDF5 file", "name a text file, or read it as HDF5"},
    {"CDF\x01", "a NetCDF file", "name a text file"},
    {"CDF\x02", "a NetCDF file", "name a text file"},
    {"\x93NUMPY", "an array of NumPy", "save it as text (numpy.savetxt)"}};

}  // namespace

void split(std::string_view line, std::vector<std::string_view>& words) {
  words.clear();
  const char *at = line.data(), *const end = at + line.size();
  while (at != end) {
    while (at != end && between_words(*at)) ++at;
    const char* const first = at;
    while (at != end && !between_words(*at)) ++at;
    if (at != first) words.emplace_back(first, static_cast<std::size_t>(at - first));
  }
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> words;
  split(line, words);
  return words;
}

std::optional<double> number_of(std::string_view word) {
  word = without_plus(word);
  double value = 0.0;
  const char* const last = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data(), last, value);
  if (error == std::errc() && end == last && std::isfinite(value)) return value;
  if (end == last || end == word.data() || (*end != 'd' && *end != 'D')) return {};
  std::string exponent(word);
  exponent[end - word.data()] = 'e';
  const auto [stop, again] = std::from_chars(exponent.data(), exponent.data() + exponent.size(), value);
  if (again != std::errc() || stop != exponent.data() + exponent.size() || !std::isfinite(value)) return {};
  return value;
}

TextLines::TextLines(const std::string& path) : path_(path), file_(path, std::ios::binary) {
  if (!file_) throw InputError(fmt::format("cannot open '{}': {}; check the path", path, std::strerror(errno)));
  pass_byte_order_mark();
}

void TextLines::pass_byte_order_mark() {
  fill();
  const std::string_view start(buffer_.data(), end_);
  if (start.starts_with("\xEF\xBB\xBF")) at_ = 3;
  if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF"))
    throw InputError(fmt::format("{}: the text is in UTF-16; save it as UTF-8 or ASCII", path_));
  for (const auto& other : other_kinds)
    if (start.starts_with(other.start))
      throw InputError(fmt::format("{}: the file is {}, expected text; {}", path_, other.name, other.remedy));
  if (start.find('\0') != std::string_view::npos)
    throw InputError(fmt::format("{}: the file holds bytes of value 0, expected text; save it as text", path_));
  if (start.find('\n') == std::string_view::npos && start.find('\r') < start.size() - 1)
    throw InputError(
        fmt::format("{}: its lines end in CR alone, expected LF or CR LF; convert it: tr '\\r' '\\n'", path_));
}

/// Refills the buffer after the unread bytes; false at the end of the file.
bool TextLines::fill() {
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(at_), buffer_.begin() + static_cast<std::ptrdiff_t>(end_),
            buffer_.begin());
  offset_ += static_cast<std::streamoff>(at_);
  end_ -= at_;
  at_ = 0;
  if (buffer_.size() < end_ + read_at_once) buffer_.resize(std::max(2 * end_, read_at_once) + read_at_once);
  file_.read(buffer_.data() + end_, static_cast<std::streamsize>(buffer_.size() - end_));
  const auto more = static_cast<std::size_t>(file_.gcount());
  end_ += more;
  return more > 0;
}

/// The next line's bytes, valid until more is read.
std::optional<std::string_view> TextLines::take() {
  for (std::size_t looked = 0;;) {
    const char* const first = buffer_.data() + at_;
    const auto* stop = static_cast<const char*>(std::memchr(first + looked, '\n', end_ - at_ - looked));
    if (!stop) {
      looked = end_ - at_;
      if (fill()) continue;
      if (looked == 0) return {};
    }
    const char* const begin = buffer_.data() + at_;
    const std::size_t size = stop ? static_cast<std::size_t>(stop - begin) : end_ - at_;
    at_ += size + (stop ? 1 : 0);
    ++number_;
    return std::string_view(begin, size > 0 && begin[size - 1] == '\r' ? size - 1 : size);
  }
}

bool TextLines::next() {
  const auto line = take();
  if (line) line_.assign(*line);
  return line.has_value();
}

bool TextLines::skip(std::int64_t lines) {
  while (lines > 0 && take()) --lines;
  return lines <= 0;
}

void TextLines::go_to(Mark mark) {
  number_ = mark.number;
  const std::streamoff from = mark.offset - offset_;
  if (from >= 0 && from <= static_cast<std::streamoff>(end_)) {
    at_ = static_cast<std::size_t>(from);
    return;
  }
  file_.clear();
  file_.seekg(mark.offset);
  offset_ = mark.offset;
  at_ = end_ = 0;
}

void TextLines::fail_at(std::int64_t number, const std::string& text) const {
  throw InputError(fmt::format("{}:{}: {}", path_, number, text));
}

double TextLines::real(std::string_view word, std::string_view what) const {
  const auto value = number_of(word);
  if (!value) fail(fmt::format("expected a number for {}, found '{}'", what, word));
  return *value;
}

std::int64_t TextLines::integer(std::string_view word, std::string_view what) const {
  std::int64_t value = 0;
  const std::string_view digits = without_plus(word);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size())
    fail(fmt::format("expected a whole number for {}, found '{}'", what, word));
  return value;
}

}  // namespace cambium::io
