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

/// A text as a cell of a table: between quotation marks where a comma, a quotation mark or the end of a line is in it
/// (RFC 4180). A text that a spreadsheet would run as a formula, as it begins with = + - @ or a tab and is no number,
/// is led by an apostrophe and stands between quotation marks.
std::string csv_cell(std::string_view text);

/// Content of a table, for the checkpoint that is written with it.
struct TableMark {
  std::int64_t rows = 0;
  std::uint64_t checksum = 0;  ///< of the text
};

/// A growing table as text: a header "step,time [ps],temperature [K]", then one line per row, each flushed. Numbers are
/// the shortest that read back as the same double. Not collective: one rank owns a table.
class CsvFile {
 public:
  /// The first column is the integer `step`, the others are `columns`. With `resumed_at`, what an earlier run wrote up
  /// to that step stays, and later and half-written lines are dropped; InputError when its columns were others, when a
  /// line is no row of it, and when it does not hold what `mark` says it held. A table that is gone is begun anew.
  CsvFile(std::string path, const std::vector<Column>& columns, std::optional<std::int64_t> resumed_at = {},
          std::optional<TableMark> mark = {});
  ~CsvFile();
  CsvFile(const CsvFile&) = delete;
  CsvFile& operator=(const CsvFile&) = delete;

  void append(std::int64_t step, std::span<const double> values);
  /// Brings the rows so far to the disk and says what they are. InputError when the disk refuses.
  TableMark mark();
  /// Remains of an earlier run: for each row the step and the values, as numbers.
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
