#pragma once
#include <optional>
#include <string>
#include <vector>

#include "plugins/podlstm/forecast/forecaster.hpp"

namespace cambium::podlstm {

enum class Protocol { blocked, paper };

/// Split of the training windows.
struct SplitOptions {
  Protocol protocol = Protocol::blocked;
  double validation = 0.2;          ///< fraction of the windows
  std::optional<std::int64_t> gap;  ///< windows; default: past + future - 1
  int folds = 1;           ///< of the blocked protocol: blocks that validate in turn; 1: only the last `validation`
  std::uint64_t seed = 1;  ///< of the random split
  std::vector<Split> splits(std::int64_t windows, const WindowShape& shape, Protocol which) const;
};

/// The validation windows of all splits, concatenated.
std::vector<std::int64_t> validation_windows(const std::vector<Split>& splits);

/// Fits a method to each split and forecasts its validation windows: rows as in validation_windows().
Matrix forecast_left_out(Forecaster& method, const Stretch& s, const std::vector<Split>& splits,
                         const WindowShape& shape);

/// The penalty of last_time_ridge(), of 0.01, 0.03, 0.1, 0.3, 1 and 3, with the best validation score by the blocked
/// protocol, without any test years.
double choose_last_ridge(BaselineOptions options, const Series& series, const WindowShape& shape,
                         const SplitOptions& split);

/// One line of the table: scores under both protocols and, fitted to all training windows, on the test years.
struct TableRow {
  std::string name;
  std::optional<double> fit;  ///< R2 on all training windows
  std::optional<double> blocked, paper;
  Score test;
  std::vector<double> rmse;  ///< by lead, per cell of the grid; empty if the cells are unknown
  Matrix forecast;           ///< of all test windows
  Matrix spread;             ///< standard deviation over the members of an ensemble; empty for a single forecast
  Matrix lower, upper;       ///< bounds of the central 90 % interval; empty if there is none
};

/// Root mean square error per cell by lead: errors of the coefficients, plus the truncation error if the file has it.
std::vector<double> rmse_by_lead(const Series& series, const Matrix& truth, const Matrix& forecast,
                                 const WindowShape& shape);

/// Fits under both protocols, then to all training windows, and forecasts the test years.
TableRow evaluate(Forecaster& method, const Series& series, const WindowShape& shape, const SplitOptions& options);

/// The table as lines of text.
std::vector<std::string> table_text(const std::vector<TableRow>& rows, const std::string& unit);
/// The same values with full precision: a header and one line per method.
std::string table_csv(const std::vector<TableRow>& rows, std::int64_t modes, std::int64_t leads);

}  // namespace cambium::podlstm
