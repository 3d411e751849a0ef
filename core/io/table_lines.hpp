#pragma once
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace cambium::io {

/// Records of a text table (RFC 4180, and the variants of spreadsheets): cells separated by commas, semicolons or tabs,
/// as decided by the header line: tabs if it has some, else semicolons, else commas; quoted cells, which may contain
/// separators and line breaks; a byte-order mark. Empty lines are skipped.
class TableLines {
 public:
  /// InputError when the file cannot be opened.
  explicit TableLines(const std::string& path);

  /// The next record; false at the end. InputError for a quotation mark that is not closed.
  bool next();
  const std::vector<std::string>& cells() const { return cells_; }
  std::int64_t line() const { return first_line_; }  ///< at which the record begins, from 1
  /// "path:line", for messages.
  std::string where() const;
  /// Cell separator: if it is not a comma, a comma is the decimal point.
  char separator() const { return separator_; }
  /// The next record is a header line: for a table whose first lines are remarks.
  void begin_again() { separator_ = '\0'; }

 private:
  bool next_line();
  bool add_cells();
  void choose_separator();

  std::string path_, line_;
  std::ifstream in_;
  std::vector<std::string> cells_;
  char separator_ = '\0';
  bool quoted_ = false;
  std::int64_t line_number_ = 0, first_line_ = 0;
};

}  // namespace cambium::io
