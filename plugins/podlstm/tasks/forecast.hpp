#pragma once
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "plugins/podlstm/forecast/options.hpp"
#include "plugins/podlstm/tasks/probabilistic.hpp"

namespace cambium::podlstm {

/// Settings of the linear methods chosen by validation.
struct LinearChoice {
  double last_ridge = 0.1;
  std::optional<LimChoice> lim;
};

/// The stage `forecast`: linear baselines, a linear inverse model as an ensemble, and stored networks of a search, on
/// the test years, in one table; and forecasts beyond the last date.
class ForecastTask : public Task {
 public:
  struct Params {
    ForecastOptions common;
    std::string ensemble;
    std::optional<ResidualKeys> residual;
    std::int64_t members = 100, ahead = 0;
    std::vector<IndexKeys> index;
    static void describe(deck::Describe<Params>& d);
  };
  ForecastTask(const Params& params, Context&) : params_(params) {}
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<Citation> citations() const override;
  std::vector<Result> results() const override { return results_; }
  std::vector<std::string> files() const override { return files_; }

 private:
  TableRow ensemble_row(const Series& series, Context& context) const;
  void require_ahead() const;
  void judge(const Series& series, const LinearChoice& linear, const ProbabilisticForecast* probabilistic,
             const std::vector<BoxMean>& indices, Context& context);
  void add_results(const std::vector<TableRow>& rows, const std::vector<Comparison>& comparisons);
  Params params_;
  Work work_;
  std::vector<Result> results_;
  std::vector<std::string> files_;
};

/// For `cambium check`: reads the series, unless an earlier stage has to write it first. InputError if no window fits
/// in it, or no validation windows remain. `judged`: there must be test years.
std::optional<Series> look_at_series(const ForecastOptions& options, Check& check, bool judged = true);

/// Chooses by the blocked protocol and logs the choice, without any test years.
LinearChoice choose_linear_methods(const ForecastOptions& options, const Series& series, Context& context);

/// Linear forecasts as baselines for all networks, one row each.
std::vector<TableRow> baseline_rows(const ForecastOptions& options, const Series& series, const LinearChoice& choice,
                                    Context& context);

/// Writes scores.csv and forecast.h5 (truth, forecasts of every method by window, lead and mode) into the run directory
/// on rank 0 and logs the table. Collective.
void report_table(const std::vector<TableRow>& rows, const Series& series, const WindowShape& shape, Context& context);

}  // namespace cambium::podlstm
