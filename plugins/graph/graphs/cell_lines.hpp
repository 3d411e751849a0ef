#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/text_lines.hpp"

namespace cambium::graph {

/// Cells of the lines of a text file of edges or classes, in the common formats: separated by blanks, tabs, commas,
/// semicolons or "::", with or without quotation marks; comments after #, % or //; a byte-order mark; a dictionary of
/// attributes {...} at the end, as networkx writes it. Empty lines and comment lines are skipped.
class CellLines {
 public:
  /// InputError if the file cannot be opened.
  explicit CellLines(const std::string& path) : lines_(path) {}

  /// Advances to the next line that has cells; false at the end.
  bool next();
  std::span<const std::string_view> cells() const { return cells_; }
  /// Content between { and } after the cells; none if there is no {.
  std::optional<std::string_view> attributes() const { return attributes_; }
  /// Comment lines before the first line with cells, at most ten, including their comment characters.
  const std::vector<std::string>& remarks() const { return remarks_; }

  /// The last comment before the first line with cells, split into cells like other lines: possibly column names.
  std::vector<std::string_view> remark_cells() const;
  /// Number of comments after the first line with cells that consist of a single integer.
  std::int64_t numbers_between() const { return numbers_between_; }

  std::int64_t line_number() const { return lines_.number(); }
  const std::string& path() const { return lines_.path(); }
  [[noreturn]] void fail(const std::string& text) const { lines_.fail(text); }

  /// A cell as a finite number; the comma is a decimal point unless cells are separated by commas.
  std::optional<double> real(std::string_view cell) const;
  /// A cell as an integer, also if written as 3.0 or 3e2.
  std::optional<std::int64_t> whole(std::string_view cell) const;

 private:
  std::string_view without_remark(std::string_view line);
  void cut(std::string_view line);
  void take_remark(std::string_view line);

  io::TextLines lines_;
  std::vector<std::string_view> cells_;
  std::optional<std::string_view> attributes_;
  std::vector<std::string> remarks_;
  std::string last_remark_;
  std::int64_t numbers_between_ = 0;
  bool begun_ = false, decimal_comma_ = false;
};

/// Value of a key in a Python or JSON dictionary ("'weight': 2.0, 'color': 'red'"); none if the key is missing. Sets
/// `wrong` if its value is not a number.
std::optional<double> number_of_key(std::string_view dictionary, std::string_view key, bool& wrong);

}  // namespace cambium::graph
