#pragma once
#include <charconv>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace cambium::io {

/// The words of a line, separated by blanks.
std::vector<std::string_view> split(std::string_view line);

/// The lines of a text file, with the place for messages.
class TextLines {
 public:
  /// Throws InputError when the file cannot be opened.
  explicit TextLines(const std::string& path);

  /// Reads the next line (without its end); false at the end of the file.
  bool next();
  const std::string& line() const { return line_; }
  std::int64_t number() const { return number_; }  ///< of the current line, from 1
  const std::string& path() const { return path_; }

  /// A position to come back to: the line after the current one.
  struct Mark {
    std::streamoff offset;
    std::int64_t number;
  };
  Mark mark();
  void go_to(Mark mark);

  /// Throws InputError "path:line: text".
  [[noreturn]] void fail(const std::string& text) const;
  /// A whole word as a number; fails naming `what` it should be.
  double real(std::string_view word, std::string_view what) const;
  std::int64_t integer(std::string_view word, std::string_view what) const;

 private:
  std::string path_;
  std::ifstream file_;
  std::string line_;
  std::int64_t number_ = 0;
};

}  // namespace cambium::io
