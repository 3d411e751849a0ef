#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "apps/cambium/sweep/results.hpp"
#include "core/base/text.hpp"
#include "core/io/csv.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/provenance.hpp"

namespace cambium {

namespace fs = std::filesystem;

namespace {

/// In one line.
std::string quoted(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return io::csv_cell(text);
}

std::string heading(const std::string& name, const std::string& unit) {
  return quoted(unit.empty() ? name : fmt::format("{} [{}]", name, unit));
}

std::string csv_of(const SweepResults& results) {
  const auto& table = results.sweep.table;
  std::vector<std::string> cells{"run", "folder", "state", "exit_code", "reason"};
  for (const auto& key : table.keys) cells.push_back(heading(key.name, key.numbers().empty() ? "" : key.unit));
  for (const auto& column : results.columns) cells.push_back(heading(column.name, column.unit));
  std::string out = fmt::format("{}\n", fmt::join(cells, ","));
  for (std::size_t k = 0; k < table.rows.size(); ++k) {
    const auto& state = results.states[k];
    cells = {fmt::format("{}", k + 1), quoted(table.rows[k].folder), state.text(), fmt::format("{}", state.code),
             quoted(state.reason)};
    for (std::size_t n = 0; n < table.keys.size(); ++n) {
      const auto at = table.rows[k].values[n];
      const auto numbers = table.keys[n].numbers();
      cells.push_back(numbers.empty() ? quoted(deck::to_line(table.keys[n].values[at])) : number_text(numbers[at]));
    }
    for (const auto& column : results.columns)
      cells.push_back(std::isfinite(column.values[k]) ? number_text(column.values[k]) : "nan");
    out += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return out;
}

/// Writes the values of a key as a dataset: numbers in its unit, or texts.
void write_key(io::File& file, const SweptKey& key) {
  const auto numbers = key.numbers();
  std::vector<std::string> texts;
  for (const auto& value : key.values) texts.push_back(value.is_scalar() ? value.text() : deck::to_line(value));
  io::Dataset data = numbers.empty() ? file.write(key.name, texts) : file.write(key.name, numbers);
  if (!numbers.empty() && !key.unit.empty()) data.set_attribute("units", key.unit);
  data.set_attribute("long_name", key.path);
}

void fill(io::File& file, const SweepResults& results, const Context& context) {
  const auto& table = results.sweep.table;
  const auto extents = table.extents();
  const std::vector<std::int64_t> shape(extents.begin(), extents.end());
  std::vector<std::string> scales, names, paths, beside;
  for (const auto& key : table.keys) {
    write_key(file, key);
    names.push_back(key.name);
    paths.push_back(key.path);
    (scales.size() < shape.size() ? scales : beside).push_back(key.name);
  }
  for (const auto& name : beside) file.attach_scales(name, scales);  // paired with the first one
  const auto add = [&](const std::string& name, const std::string& unit, const std::string& text,
                       const std::vector<double>& values) {
    io::Dataset data = file.allocate(name, dtype_of<double>(), shape);
    TensorRef all = io::tensor_of(values.data(), {});
    all.rank = static_cast<int>(shape.size());
    for (std::size_t d = shape.size(), stride = 1; d-- > 0; stride *= extents[d]) {
      all.shape[d] = shape[d];
      all.stride[d] = static_cast<std::int64_t>(stride);
    }
    data.write_block(std::vector<std::int64_t>(shape.size(), 0), all);
    if (!unit.empty()) data.set_attribute("units", unit);
    data.set_attribute("long_name", text);
    if (!beside.empty()) data.set_attribute("coordinates", join(beside, " "));
    file.attach_scales(name, scales);
  };
  std::vector<double> codes;
  for (const auto& state : results.states)
    codes.push_back(state.kind == RunState::Kind::done || state.kind == RunState::Kind::failed
                        ? state.code
                        : std::numeric_limits<double>::quiet_NaN());
  add("exit_code", "", "exit code of the run; none for one that has not ended", codes);
  for (const auto& column : results.columns) add(column.name, column.unit, column.description, column.values);
  file.set_attribute("swept_keys", names);
  file.set_attribute("swept_paths", paths);
  file.set_attribute("zip", table.zip ? 1 : 0);
  file.set_attribute("command", results.sweep.command);
  io::write_provenance(file, io::provenance_of(context));
}

}  // namespace

void write_result_files(const std::string& directory, const SweepResults& results, const Context& context) {
  io::write_file_atomically((fs::path(directory) / "results.csv").string(), csv_of(results));
  io::write_h5_atomically((fs::path(directory) / "results.h5").string(),
                          [&](io::File& file) { fill(file, results, context); });
}

}  // namespace cambium
