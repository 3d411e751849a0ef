#include "core/io/csv.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/recorder.hpp"
#include "core/base/text.hpp"
#include "core/io/hdf5/atomic_file.hpp"

namespace cambium::io {
namespace {

/// True for a text that spreadsheets interpret as a formula. A sign by itself is not one.
bool is_formula(std::string_view text) {
  if (text.size() < 2 || std::string_view("=+-@\t\r").find(text.front()) == std::string_view::npos) return false;
  const auto unsigned_text = text.substr(1);
  return !parse_number(text) && unsigned_text != "inf" && unsigned_text != "nan";
}

std::string heading(const std::vector<Column>& columns) {
  std::string text;
  for (const auto& column : columns)
    text += (text.empty() ? "" : ",") +
            csv_cell(column.unit.empty() ? column.name : fmt::format("{} [{}]", column.name, column.unit));
  return text;
}

/// Hash of a text's bytes (Fowler, Noll, Vo 1991: FNV-1a), which is continued over later rows.
std::uint64_t checksum(std::string_view text, std::uint64_t sum = 14695981039346656037ull) {
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return sum;
}

/// Values of a line, of which the first is an integer; none if it is not a row of `count` values.
std::optional<std::vector<double>> row_of(const std::string& line, std::size_t count) {
  std::vector<double> row;
  const char *at = line.data(), *const end = at + line.size();
  for (std::size_t k = 0; k < count; ++k) {
    if (k > 0 && (at == end || *at++ != ',')) return {};
    double value = 0.0;
    const auto [stop, error] = std::from_chars(at, end, value);
    if (error != std::errc() || (k == 0 && value != std::floor(value))) return {};
    row.push_back(value);
    at = stop;
  }
  if (at != end) return {};
  return row;
}

struct Kept {
  std::string text;  ///< header and rows; empty if there is no such file
  std::vector<std::vector<double>> rows;
};

/// Header and complete rows up to a step of an earlier run, at most `most`.
Kept kept_rows(const std::string& path, const std::string& header, std::size_t columns, std::int64_t last_step,
               std::int64_t most) {
  std::ifstream in(path, std::ios::binary);
  std::string line;
  Kept kept;
  if (!std::getline(in, line) || in.eof()) return {};
  if (line != header) {
    const bool readable = std::all_of(line.begin(), line.end(), [](unsigned char c) { return c >= 32; });
    throw InputError(
        fmt::format("'{}' has the columns '{}' but this deck writes '{}': resume with the deck that wrote it, or move "
                    "the file away",
                    path, readable ? line.substr(0, 200) : "(not a text)", header));
  }
  kept.text = line + "\n";
  for (std::int64_t number = 2; std::ssize(kept.rows) < most && std::getline(in, line) && !in.eof(); ++number) {
    auto row = row_of(line, columns);
    if (!row)
      throw InputError(
          fmt::format("{}:{}: this is not a row of {} values: the file is damaged; put back a copy of it, or move it "
                      "away and a new table begins",
                      path, number, columns));
    if (row->front() > static_cast<double>(last_step)) break;
    kept.text += line + "\n";
    kept.rows.push_back(std::move(*row));
  }
  return kept;
}

}  // namespace

std::string csv_cell(std::string_view text) {
  const bool formula = is_formula(text);
  if (!formula && text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = formula ? "\"'" : "\"";
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  out += '"';
  return out;
}

CsvFile::CsvFile(std::string path, const std::vector<Column>& columns, std::optional<std::int64_t> resumed_at,
                 std::optional<TableMark> mark)
    : path_(std::move(path)), columns_(columns.size()) {
  std::vector<Column> all{{"step", "", ""}};
  all.insert(all.end(), columns.begin(), columns.end());
  const std::string header = heading(all);
  Kept kept;
  if (resumed_at)
    kept =
        kept_rows(path_, header, all.size(), *resumed_at, mark ? mark->rows : std::numeric_limits<std::int64_t>::max());
  std::string& text = kept.text;
  const bool there = resumed_at && std::filesystem::exists(path_);
  if (text.empty()) text = header + "\n";
  kept_ = std::move(kept.rows);
  mark_ = {std::ssize(kept_), checksum(text)};
  if (mark && there && (mark->rows != mark_.rows || mark->checksum != mark_.checksum))
    throw InputError(
        fmt::format("'{}' holds {} rows up to step {}, but {} when the checkpoint was written{}: it was truncated or "
                    "changed; put back a copy of it, or move it away and a new table begins",
                    path_, mark_.rows, *resumed_at, mark->rows, mark->rows == mark_.rows ? ", with other values" : ""));
  write_file_atomically(path_, text);
  file_ = std::fopen(path_.c_str(), "a");
  if (!file_) refuse_write(path_, std::strerror(errno));
}

CsvFile::~CsvFile() { std::fclose(file_); }

void CsvFile::append(std::int64_t step, std::span<const double> values) {
  const Region region("write a row", WorkKind::files);
  if (values.size() != columns_) throw InternalError("a table row has another number of values than the table columns");
  std::string line = fmt::format("{}", step);
  for (double value : values) line += fmt::format(",{}", value);
  line += '\n';
  if (std::fwrite(line.data(), 1, line.size(), file_) != line.size() || std::fflush(file_) != 0)
    refuse_write(path_, std::strerror(errno));
  mark_ = {mark_.rows + 1, checksum(line, mark_.checksum)};
}

TableMark CsvFile::mark() {
  const Region region("bring a table to the disk", WorkKind::files);
  if (fsync(fileno(file_)) != 0 && errno != EINVAL) refuse_write(path_, std::strerror(errno));
  return mark_;
}

void write_csv(const std::string& path, const std::vector<Column>& columns,
               const std::vector<std::vector<double>>& values) {
  std::string text = heading(columns) + "\n";
  const std::size_t rows = values.empty() ? 0 : values.front().size();
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t k = 0; k < values.size(); ++k)
      text += fmt::format("{}{}", values[k].at(row), k + 1 < values.size() ? "," : "\n");
  write_file_atomically(path, text);
}

}  // namespace cambium::io
