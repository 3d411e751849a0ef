#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/train/data/csv_columns.hpp"

namespace cambium::relate {

/// Spelling and columns of a text of clicks. A column is its name in the header line, or its number from 0; "2-14" and
/// "I1-I13" are all columns from one to another.
struct ClickTextKeys {
  char separator = '\0';  ///< '\0': found (io::TableLines)
  train::CsvForm::Decimal decimal = train::CsvForm::Decimal::found;
  std::optional<bool> header;      ///< whether the first line names the columns; found if absent
  std::string label;               ///< a column; "none"; "": the column label, click or clicked
  std::vector<std::string> dense;  ///< columns of numbers
  std::vector<std::string> categorical;
};

/// Selected columns of a text.
struct ClickColumns {
  bool header = false;               ///< the first line is no record
  std::vector<std::string> names;    ///< of all columns, for messages
  std::optional<std::size_t> label;  ///< none: the records have no labels
  std::vector<std::size_t> dense, categorical;
  std::vector<std::string> unused;
  /// Names of the tables: those of the header line, or C1, C2, ... without one.
  std::vector<std::string> tables;
};

/// Selects columns by the cells of the first line. `where` is its "path:line", for messages. InputError, or KeyError
/// about the key, for a column that does not exist, is ambiguous or is selected twice, and if no column is selected.
ClickColumns click_columns(const std::vector<std::string>& first, const ClickTextKeys& keys, const std::string& where);

/// A label: 0, 1 or another number, true and false as 1 and 0; none for other text.
std::optional<double> label_of(const std::string& cell);

}  // namespace cambium::relate
