#pragma once
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cambium::io {

/// The separator that a deck names: '\0' for "auto", a tab for "tab" and "\t", or the single character of the text;
/// none for any other text, and for characters that numbers and quoted cells consist of.
std::optional<char> separator_named(std::string_view text);

/// Placeholders for a missing value, ignoring case: those of pandas.read_csv, and the point of SAS and Stata.
bool is_missing_cell(std::string_view cell);

/// Records of a text table (RFC 4180, and the variants of spreadsheets): cells separated by commas, semicolons or tabs,
/// as decided by the header line: tabs if it has some, else semicolons, else commas; or by a first line "sep=;", which
/// is no record. Quoted cells may contain separators and line breaks. A byte-order mark and empty lines are skipped.
class TableLines {
 public:
  /// `separator`: of the cells; '\0': found as above. InputError when the file cannot be opened.
  explicit TableLines(const std::string& path, char separator = '\0');

  /// The next record; false at the end. InputError for a quotation mark that is not closed, and for a first line
  /// "sep=..." that names no separator, or another one than that of the constructor.
  bool next();
  const std::vector<std::string>& cells() const { return cells_; }
  std::int64_t line() const { return first_line_; }  ///< at which the record begins, from 1
  /// "path:line", for messages.
  std::string where() const;
  /// Cell separator: if it is not a comma, a comma is the decimal point.
  char separator() const { return separator_; }
  /// The next record is a header line: for a table whose first lines are remarks.
  void begin_again() { separator_ = given_; }

 private:
  bool next_line();
  bool add_cells();
  bool declares_separator();
  void choose_separator();

  std::string path_, line_;
  std::ifstream in_;
  std::vector<std::string> cells_;
  char given_, separator_;  ///< '\0': to be found
  bool quoted_ = false;
  std::int64_t line_number_ = 0, first_line_ = 0;
};

}  // namespace cambium::io
