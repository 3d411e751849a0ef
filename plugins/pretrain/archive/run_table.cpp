#include "plugins/pretrain/archive/run_table.hpp"

#include <fmt/format.h>

#include <fstream>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace cambium::pretrain {

static std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> out{""};
  for (const char c : line) {
    if (c == ',')
      out.emplace_back();
    else if (c != '\r')
      out.back() += c;
  }
  return out;
}

RunTable read_runs(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line) || !line.starts_with("file,"))
    throw InputError(
        fmt::format("'{}' is no table of runs: its first line begins with 'file,'; give the made.csv of a "
                    "stage select_runs with 'run'",
                    path));
  const auto names = cells_of(line);
  RunTable out;
  for (std::size_t number = 2; std::getline(in, line); ++number) {
    if (line.empty()) continue;
    const auto cells = cells_of(line);
    if (cells.size() != names.size())
      throw InputError(fmt::format("'{}': line {} has {} values, the first has {}; make the table again", path, number,
                                   cells.size(), names.size()));
    out.files.push_back(cells[0]);
    for (std::size_t k = 1; k < names.size(); ++k) {
      const auto value = parse_number(cells[k]);
      if (!value)
        throw InputError(
            fmt::format("'{}': line {}: '{}' is not a number; make the table again", path, number, cells[k]));
      out.parameters[names[k]].push_back(*value);
    }
  }
  return out;
}

std::string text_of(const RunTable& runs) {
  std::string out = "file";
  for (const auto& [name, values] : runs.parameters) out += "," + name;
  out += "\n";
  for (std::size_t k = 0; k < runs.files.size(); ++k) {
    out += runs.files[k];
    for (const auto& [name, values] : runs.parameters) out += "," + number_text(values[k]);
    out += "\n";
  }
  return out;
}

}  // namespace cambium::pretrain
