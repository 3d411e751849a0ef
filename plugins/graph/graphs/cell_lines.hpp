#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/text_lines.hpp"

namespace cambium::graph {

/// The lines of a text of edges or of classes as cells, in whichever of the usual ways they are written: cells between
/// blanks, tabs, commas, semicolons or "::", with or without quotation marks; remarks behind #, % or //; a byte-order
/// mark; a dictionary of attributes {...} at the end, as networkx writes them. Empty lines and lines that are remarks
/// are passed over.
class CellLines {
 public:
  /// InputError when the file cannot be opened.
  explicit CellLines(const std::string& path) : lines_(path) {}

  /// The next line that has cells; false at the end.
  bool next();
  std::span<const std::string_view> cells() const { return cells_; }
  /// Content between { and } after the cells; none where there is no {.
  std::optional<std::string_view> attributes() const { return attributes_; }
  /// Lines that are remarks and stand before the first one with cells, at most ten, each with its mark.
  const std::vector<std::string>& remarks() const { return remarks_; }

  /// The last remark before the first line with cells, cut into cells as lines are: names of columns, perhaps.
  std::vector<std::string_view> remark_cells() const;
  /// Remarks behind the first line with cells that are a whole number and nothing else.
  std::int64_t numbers_between() const { return numbers_between_; }

  std::int64_t line_number() const { return lines_.number(); }
  const std::string& path() const { return lines_.path(); }
  [[noreturn]] void fail(const std::string& text) const { lines_.fail(text); }

  /// A cell as a finite number; a comma is its decimal point where cells do not stand between commas.
  std::optional<double> real(std::string_view cell) const;
  /// A cell as a whole number, also when it is written as 3.0 or 3e2.
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

/// The number that a dictionary of Python or JSON ("'weight': 2.0, 'color': 'red'") gives to a key; none where it does
/// not name the key. `wrong` is set where what stands there is no number.
std::optional<double> number_of_key(std::string_view dictionary, std::string_view key, bool& wrong);

}  // namespace cambium::graph
