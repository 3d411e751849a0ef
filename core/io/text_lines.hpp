#pragma once
#include <charconv>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cambium::io {

/// The words of a line, separated by blanks.
std::vector<std::string_view> split(std::string_view line);
/// The same into `words`, which replaces its content and reuses its memory.
void split(std::string_view line, std::vector<std::string_view>& words);

/// Parses the entire word as a finite number; none for any other. An exponent may be written with d as in Fortran.
std::optional<double> number_of(std::string_view word);

/// Lines of a text file, with the location for messages. A UTF-8 byte-order mark is not part of the first line.
class TextLines {
 public:
  /// Throws InputError when the file cannot be opened, and for text in UTF-16.
  explicit TextLines(const std::string& path);

  /// Reads the next line (without its end); false at the end of the file.
  bool next();
  /// Skips this many lines; false if there are fewer. line() is not changed.
  bool skip(std::int64_t lines);
  const std::string& line() const { return line_; }
  std::int64_t number() const { return number_; }  ///< of the current line, from 1
  const std::string& path() const { return path_; }

  /// A position to return to: the line after the current one.
  struct Mark {
    std::streamoff offset;
    std::int64_t number;
  };
  Mark mark() const { return {offset_ + static_cast<std::streamoff>(at_), number_}; }
  void go_to(Mark mark);

  /// Throws InputError "path:line: text".
  [[noreturn]] void fail(const std::string& text) const { fail_at(number_, text); }
  [[noreturn]] void fail_at(std::int64_t number, const std::string& text) const;
  /// Parses the entire word as a number; the failure message names `what` it should be.
  double real(std::string_view word, std::string_view what) const;
  std::int64_t integer(std::string_view word, std::string_view what) const;

 private:
  bool fill();
  std::optional<std::string_view> take();
  void pass_byte_order_mark();

  std::string path_;
  std::ifstream file_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0;  ///< the bytes of the buffer that are still to be read
  std::streamoff offset_ = 0;     ///< of the buffer's first byte in the file
  std::string line_;
  std::int64_t number_ = 0;
};

}  // namespace cambium::io
