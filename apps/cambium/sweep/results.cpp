#include "apps/cambium/sweep/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <sstream>

#include "apps/cambium/sweep/column_names.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/run/run_directory.hpp"
#include "core/run/summary/stage_results.hpp"

namespace cambium {

namespace fs = std::filesystem;

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

/// A table that a stage wrote; lines that are not rows of numbers are skipped.
struct Table {
  std::vector<std::string> names, units;
  std::vector<std::vector<double>> rows;
};

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) out.push_back(cell);
  return out;
}

Table table_in(const std::string& folder, const std::string& name) {
  Table out;
  std::istringstream in(text_in(folder, name));
  std::string line;
  if (!std::getline(in, line)) return out;
  for (const auto& heading : cells_of(line)) {
    const auto open = heading.find(" [");
    out.names.push_back(heading.substr(0, open));
    out.units.push_back(open == std::string::npos ? "" : heading.substr(open + 2, heading.size() - open - 3));
  }
  while (std::getline(in, line)) {
    std::vector<double> row;
    for (const auto& cell : cells_of(line)) row.push_back(parse_number(cell).value_or(missing));
    if (row.size() == out.names.size()) out.rows.push_back(std::move(row));
  }
  return out;
}

/// Columns of all runs, by their names.
class Columns {
 public:
  explicit Columns(const SweepTable& table) : table_(table) {}
  void add(std::size_t run, std::string name, const std::string& unit, const std::string& description, double value) {
    for (const auto& key : table_.keys)
      if (key.name == name) name += "_result";
    auto at = std::find_if(all.begin(), all.end(), [&](const auto& c) { return c.name == name; });
    if (at == all.end())
      at = all.insert(all.end(), {name, unit, description, std::vector<double>(table_.rows.size(), missing)});
    at->values[run] = value;
  }
  std::vector<ResultColumn> all;

 private:
  const SweepTable& table_;
};

void add_thermo(std::size_t run, const std::string& prefix, const Table& table, Columns& out) {
  if (table.rows.empty()) return;
  const std::size_t begin = table.rows.size() / 2;
  for (std::size_t c = 0; c < table.names.size(); ++c) {
    if (table.names[c] == "step" || table.names[c] == "time") continue;
    double sum = 0.0;
    for (std::size_t r = begin; r < table.rows.size(); ++r) sum += table.rows[r][c];
    out.add(run, prefix + table.names[c] + "_mean", table.units[c],
            "mean over the second half of the lines of thermo.csv",
            sum / static_cast<double>(table.rows.size() - begin));
    out.add(run, prefix + table.names[c] + "_last", table.units[c], "last line of thermo.csv", table.rows.back()[c]);
  }
}

void add_last(std::size_t run, const std::string& prefix, const std::string& file, const Table& table, bool marked,
              Columns& out) {
  if (table.rows.empty()) return;
  for (std::size_t c = 0; c < table.names.size(); ++c)
    if (table.names[c] != "step" && table.names[c] != "epoch")
      out.add(run, prefix + table.names[c] + (marked ? "_last" : ""), table.units[c], "last line of " + file,
              table.rows.back()[c]);
}

void add_stage(std::size_t run, const fs::path& folder, const std::string& prefix, Columns& out) {
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".csv") files.push_back(entry.path().filename().string());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    const Table table = table_in(folder.string(), file);
    if (file == "thermo.csv")
      add_thermo(run, prefix, table, out);
    else if (file == "training.csv" || file == "validation.csv")
      add_last(run, prefix + (file == "training.csv" ? "training_" : "validation_"), file, table, true, out);
    else if (table.rows.size() == 1)
      add_last(run, prefix, file, table, false, out);
  }
}

/// False if the stage has no results.json.
bool add_results(std::size_t run, const fs::path& folder, const std::string& prefix, Columns& out) {
  const auto found = stage_results_in(folder.string());
  if (!found) return false;
  out.add(run, prefix + "seconds", "s", "wall time of the stage's last call", found->seconds);
  for (const auto& result : found->results) {
    const std::string name = prefix + column_of_result(result.key);
    if (std::isfinite(result.value)) out.add(run, name, result.unit, result.label, result.value);
    if (result.uncertainty && std::isfinite(*result.uncertainty))
      out.add(run, name + "_error", result.unit, "standard error: " + result.label, *result.uncertainty);
  }
  return true;
}

/// A run's deck names its stages; their folders follow.
std::vector<std::string> stages_of(const std::string& directory) {
  std::vector<std::string> out;
  std::istringstream in(text_in(directory, run_files::finished));
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) out.push_back(line);
  return out;
}

/// The result that `name` means: its name, or the end of the name of a single one.
const ResultColumn* meant(const std::vector<ResultColumn>& all, const std::string& name) {
  const ResultColumn* found = nullptr;
  for (const auto& column : all) {
    if (column.name == name) return &column;
    if (!column.name.ends_with("_" + name)) continue;
    if (found) return nullptr;
    found = &column;
  }
  return found;
}

/// Warns of a theory without a result, with the nearest name.
void warn_of_unknown(const std::vector<ResultColumn>& all, const deck::Node& theory, Log& log) {
  std::vector<std::string> names;
  for (const auto& column : all)
    if (!column.name.ends_with("_theory")) names.push_back(column.name);
  for (const auto& entry : theory.entries())
    if (!names.empty() && !deck::is_note(entry.key) && !meant(all, entry.key))
      log.warn(fmt::format("sweep.theory: no run has a result '{}'{}", entry.key, suggestion(entry.key, names)));
}

/// Runs of an earlier version have only their tables.
void warn_of_older_runs(const SweepResults& results, Log& log) {
  for (const std::size_t k : results.without_results)
    log.warn(
        fmt::format("run {} has no {}: an earlier version ran it. Only its tables are read; for all its results remove "
                    "its folder, {}, and call the sweep again",
                    k + 1, StageResults::file, results.sweep.table.rows[k].folder));
}

void add_theory(SweepResults& results) {
  const auto& table = results.sweep.table;
  for (const auto& entry : results.sweep.theory.entries()) {
    if (deck::is_note(entry.key)) continue;
    const auto* column = meant(results.columns, entry.key);
    ResultColumn out{(column ? column->name : entry.key) + "_theory",
                     column ? column->unit : "",
                     "expected: " + deck::to_line(entry.value),
                     {}};
    for (std::size_t k = 0; k < table.rows.size(); ++k) out.values.push_back(expected_value(entry.value, table, k));
    results.columns.push_back(std::move(out));
  }
}

}  // namespace

SweepResults results_of(const std::string& directory) {
  SweepResults out;
  out.sweep = stored_sweep(directory);
  Columns columns(out.sweep.table);
  for (std::size_t k = 0; k < out.sweep.table.rows.size(); ++k) {
    const std::string run = (fs::path(directory) / out.sweep.table.rows[k].folder).string();
    out.states.push_back(state_of(run));
    if (out.states.back().kind != RunState::Kind::done) continue;  // half a run's means are not results
    const auto stages = stages_of(run);
    const auto prefix = [&](const std::string& stage) { return stages.size() > 1 ? stage + "_" : ""; };
    bool complete = true;
    for (const auto& stage : stages) complete &= add_results(k, fs::path(run) / stage, prefix(stage), columns);
    if (!complete) out.without_results.push_back(k);
    for (const auto& stage : stages) add_stage(k, fs::path(run) / stage, prefix(stage), columns);
  }
  out.columns = std::move(columns.all);
  add_theory(out);
  return out;
}

void write_results(const std::string& directory, const Context& context) {
  const SweepResults results = results_of(directory);
  warn_of_older_runs(results, context.log);
  warn_of_unknown(results.columns, results.sweep.theory, context.log);
  write_result_files(directory, results, context);
}

}  // namespace cambium
