#pragma once
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cambium::io {

/// A named quantity of a table.
struct Column {
  std::string name;
  std::string unit;  ///< empty for a pure number
  std::string doc;
};

/// A text as a cell of a table: quoted if it contains a comma, a quotation mark or a line break (RFC 4180). A text that
/// a spreadsheet would run as a formula, since it begins with = + - @ or a tab and is not a number, is prefixed by an
/// apostrophe and quoted.
std::string csv_cell(std::string_view text);

/// Content of a table, for the checkpoint that is written with it.
struct TableMark {
  std::int64_t rows = 0;
  std::uint64_t checksum = 0;  ///< of the text
};

/// A growing table as text: a header "step,time [ps],temperature [K]", then one line per row, each flushed. Values are
/// the shortest text that reads back as the same double. Not collective: one rank owns a table.
class CsvFile {
 public:
  /// The first column is the integer `step`, the others are `columns`. With `resumed_at`, rows of an earlier run up to
  /// that step are kept, later and half-written lines dropped; InputError if its columns differ, if a line is not one
  /// of its rows, and if its content does not match `mark`. A missing table is created again.
  CsvFile(std::string path, const std::vector<Column>& columns, std::optional<std::int64_t> resumed_at = {},
          std::optional<TableMark> mark = {});
  ~CsvFile();
  CsvFile(const CsvFile&) = delete;
  CsvFile& operator=(const CsvFile&) = delete;

  void append(std::int64_t step, std::span<const double> values);
  /// Flushes the rows so far to disk and returns their mark. InputError if the disk fails.
  TableMark mark();
  /// Rows kept from an earlier run: step and values of each.
  const std::vector<std::vector<double>>& kept() const { return kept_; }

 private:
  std::string path_;
  std::size_t columns_;
  TableMark mark_;
  std::vector<std::vector<double>> kept_;
  std::FILE* file_ = nullptr;
};

/// A finished table: columns of equal length, written complete or not at all.
void write_csv(const std::string& path, const std::vector<Column>& columns,
               const std::vector<std::vector<double>>& values);

}  // namespace cambium::io
