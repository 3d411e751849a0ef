#pragma once
#include "core/plugin/check.hpp"
#include "core/plugin/task.hpp"
#include "plugins/podlstm/forecast/options.hpp"

namespace cambium::podlstm {

/// The stage `forecast`: linear baselines, and networks that a search has stored, on the test years, in one table.
class ForecastTask : public Task, public Checked {
 public:
  struct Params {
    ForecastOptions common;
    std::string ensemble;
    static void describe(deck::Describe<Params>& d);
  };
  ForecastTask(const Params& params, Context&) : params_(params) {}
  void check(Context&) override;
  void examine(Check&) override;
  Outcome run(Context&) override;
  Work work() const override { return work_; }
  std::vector<Citation> citations() const override;
  std::vector<std::string> files() const override { return {"scores.csv", "forecast.h5"}; }

 private:
  TableRow ensemble_row(const Series& series, Context& context) const;
  Params params_;
  Work work_;
};

/// For `cambium check`: the series, read, where no earlier stage has to write it first. InputError when windows do not
/// fit in it, or nothing is left to validate.
std::optional<Series> look_at_series(const ForecastOptions& options, Check& check);

/// The linear forecasts that every network has to beat, one row each.
std::vector<TableRow> baseline_rows(const ForecastOptions& options, const Series& series, Context& context);

/// Writes scores.csv and forecast.h5 (truth, forecasts of every method by window, lead and mode) into the run directory
/// on rank 0 and shows the table. Collective.
void report_table(const std::vector<TableRow>& rows, const Series& series, const WindowShape& shape, Context& context);

}  // namespace cambium::podlstm
