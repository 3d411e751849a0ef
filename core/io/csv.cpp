#include "core/io/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "core/base/error.hpp"
#include "core/io/atomic_file.hpp"

namespace cambium::io {
namespace {

std::string heading(const std::vector<Column>& columns) {
  std::string text;
  for (const auto& column : columns)
    text += fmt::format(fmt::runtime(column.unit.empty() ? "{}{}" : "{}{} [{}]"), text.empty() ? "" : ",", column.name,
                        column.unit);
  return text;
}

/// Header and the complete rows up to a step of an earlier run; empty when there is no such file.
std::string kept_rows(const std::string& path, const std::string& header, std::int64_t last_step) {
  std::ifstream in(path);
  std::string line, kept;
  if (!std::getline(in, line) || in.eof()) return {};
  if (line != header)
    throw InputError(
        fmt::format("'{}' has the columns '{}' but this deck writes '{}': resume with the deck that wrote it, or "
                    "move the file away",
                    path, line, header));
  kept = line + "\n";
  const auto commas = std::count(header.begin(), header.end(), ',');
  while (std::getline(in, line)) {
    const bool whole = !in.eof() && std::count(line.begin(), line.end(), ',') == commas;
    if (!whole || std::strtoll(line.c_str(), nullptr, 10) > last_step) break;
    kept += line + "\n";
  }
  return kept;
}

/// Rows after the header.
std::vector<std::vector<double>> parse_rows(const std::string& text) {
  std::vector<std::vector<double>> rows;
  const char* at = text.c_str() + text.find('\n') + 1;
  while (*at) {
    rows.emplace_back();
    do {
      char* end = nullptr;
      rows.back().push_back(std::strtod(at, &end));
      at = end;
    } while (*at++ == ',');
  }
  return rows;
}

}  // namespace

CsvFile::CsvFile(std::string path, const std::vector<Column>& columns, std::optional<std::int64_t> resumed_at)
    : path_(std::move(path)), columns_(columns.size()) {
  std::vector<Column> all{{"step", "", ""}};
  all.insert(all.end(), columns.begin(), columns.end());
  const std::string header = heading(all);
  std::string text = resumed_at ? kept_rows(path_, header, *resumed_at) : "";
  if (text.empty()) text = header + "\n";
  kept_ = parse_rows(text);
  write_file_atomically(path_, text);
  file_ = std::fopen(path_.c_str(), "a");
  if (!file_) refuse_write(path_, std::strerror(errno));
}

CsvFile::~CsvFile() { std::fclose(file_); }

void CsvFile::append(std::int64_t step, std::span<const double> values) {
  if (values.size() != columns_) throw InternalError("a table row has another number of values than the table columns");
  std::string line = fmt::format("{}", step);
  for (double value : values) line += fmt::format(",{}", value);
  line += '\n';
  if (std::fwrite(line.data(), 1, line.size(), file_) != line.size() || std::fflush(file_) != 0)
    refuse_write(path_, std::strerror(errno));
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
