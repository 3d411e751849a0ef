#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cambium::train {

/// Columns that a field of a table is made of.
struct WantedColumns {
  std::string name;                  ///< of the field
  std::vector<std::string> columns;  ///< as the line of names has them, with or without a unit in brackets
};

/// Numbers of a table, line by line: those of the first field's columns, then those of the next.
struct CsvNumbers {
  std::vector<double> real;
  std::vector<std::int64_t> whole;  ///< the same of columns that hold whole numbers alone
  std::vector<bool> is_whole;       ///< by field
  std::vector<std::string> units;   ///< by field, from the line of names; empty where it says none or several
  std::int64_t lines = 0, left_out = 0;
  std::string first_left_out;  ///< "path:line"
};

/// Reads columns of a table in text: a line of names, then one for each sample. Cells are separated by commas,
/// semicolons or tabs, and a comma is the decimal point where another mark separates. Lines in front that begin with #
/// are remarks; the last of them names the columns where no other line does. InputError names file, line and column: a
/// column is not there or twice, a cell is no number or has none (`leave_out`: the line is left out), a line has other
/// cells than the first.
CsvNumbers read_csv_columns(const std::string& path, std::span<const WantedColumns> fields, bool leave_out);

}  // namespace cambium::train
