#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/train/kinds/dataset.hpp"

namespace cambium::train {

/// Columns of one field of a table.
struct WantedColumns {
  std::string name;                     ///< of the field
  std::vector<std::string> columns;     ///< as in the header line, with or without a unit in brackets
  std::vector<std::string> categories;  ///< not empty: cells are one of these texts, read as its index
};

/// Values of a table, line by line: the columns of the first field, then those of the next.
struct CsvNumbers {
  std::vector<double> real;
  std::vector<std::int64_t> whole;                ///< the same for columns that hold only integers
  std::vector<bool> is_whole;                     ///< by field
  std::vector<std::string> units;                 ///< by field, from the header line; empty if it has none or several
  std::vector<std::vector<TableColumn>> columns;  ///< by field, from the header line; the unit "1" is left out
  std::int64_t lines = 0, left_out = 0;
  std::string first_left_out;  ///< "path:line"
};

/// Spelling of a text table.
struct CsvForm {
  enum class Decimal { found, point, comma };
  char separator = '\0';             ///< of the cells; '\0': found (io::TableLines)
  Decimal decimal = Decimal::found;  ///< decimal point; found: also a comma if the separator is another character
};

/// Reads columns of a text table: a header line, then one line for each sample. True and false are 1 and 0. Cells
/// of a field with `categories` are texts, also those that mean a missing value elsewhere. Leading
/// lines that begin with # are comments; the last one names the columns if no other line does. InputError, with file,
/// line and column: a column is missing or occurs twice, a cell is not numeric, is none of the categories or is empty
/// (`leave_out`: the line is skipped), a line has a different number of cells than the first, a number has a point or a
/// comma that is not its decimal point, or may be so: without `decimal`, where some numbers have a comma and others a
/// point.
CsvNumbers read_csv_columns(const std::string& path, std::span<const WantedColumns> fields, bool leave_out,
                            const CsvForm& form = {});

/// A column of a table that no field names yet.
struct CsvColumn {
  std::string heading;  ///< as in the header line
  TableColumn parts;
  bool numeric = true;  ///< every cell is a number that the table's decimal point leaves no doubt about
};

/// Columns of a table, after reading all of its lines. InputError as read_csv_columns, except about cells.
std::vector<CsvColumn> survey_csv(const std::string& path, const CsvForm& form = {});

/// Different texts in the cells of a column, missing values included, in the order in which they occur first.
std::vector<std::string> texts_in_csv(const std::string& path, const std::string& heading, const CsvForm& form = {});

}  // namespace cambium::train
