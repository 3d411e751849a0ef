#pragma once
#include <string>
#include <vector>

#include "apps/cambium/sweep/run_state.hpp"
#include "apps/cambium/sweep/stored_sweep.hpp"
#include "core/parallel/context.hpp"

namespace cambium {

/// A number that every run has, or may have.
struct ResultColumn {
  std::string name;  ///< "temperature_mean"
  std::string unit;
  std::string description;     ///< "mean of the second half of thermo.csv", "growth rate of the field: gamma"
  std::vector<double> values;  ///< one per run of the table; NaN if it is missing
};

/// Results of a sweep so far.
struct SweepResults {
  StoredSweep sweep;
  std::vector<RunState> states;              ///< of every run
  std::vector<std::size_t> without_results;  ///< runs that are done and have a stage without results.json
  std::vector<ResultColumn> columns;         ///< results, then the predictions of the deck's `theory` (NAME_theory)
};

/// Collects from the folders of the runs: of thermo.csv the last line and the mean of its second half (NAME_last,
/// NAME_mean), of training.csv and validation.csv the last line, tables of a single row, and each stage's results.json,
/// with the standard error of NAME as NAME_error. With several stages, names are prefixed by the stage's folder.
SweepResults results_of(const std::string& directory);

/// results.h5 (arrays over the swept keys, which are its dimension scales) and results.csv (one row per run) in the
/// folder of a sweep. On one rank.
void write_results(const std::string& directory, const Context& context);

/// The two files of results that are in memory.
void write_result_files(const std::string& directory, const SweepResults& results, const Context& context);

}  // namespace cambium
