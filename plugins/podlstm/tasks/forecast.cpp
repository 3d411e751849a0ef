#include "plugins/podlstm/tasks/forecast.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <numeric>

#include "core/base/text.hpp"
#include "core/deck/about_key.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/podlstm/forecast/ensemble.hpp"
#include "plugins/podlstm/networks/citations.hpp"
#include "plugins/podlstm/pod/pod_file.hpp"

namespace cambium::podlstm {

void ForecastTask::Params::describe(deck::Describe<Params>& d) {
  d("data", &Params::common, "series, windows, validation and baselines");
  d("ensemble", &Params::ensemble,
    "ensemble of networks stored by a search, for forecasts alongside the linear methods")
      .def("")
      .example("{run}/search/ensemble.h5");
}

void ForecastTask::check(Context& context) {
  context.log.info(fmt::format("forecast: {} times -> {} times of '{}'", params_.common.window, params_.common.horizon,
                               params_.common.series.file));
}

std::optional<Series> look_at_series(const ForecastOptions& options, Check& check) {
  check.require_written_by("data.series.file", options.series.file, {{Origin::stage, "pod"}, {Origin::stage, "embed"}});
  if (check.waits(options.series.file)) {
    check.not_looked_at(fmt::format("the series: '{}' is still to be written", options.series.file));
    return {};
  }
  return deck::about_key("", "data", [&] {
    Series series = deck::about_key("series.file", "series.file", "series",
                                    [&] { return read_series(options.series, check.context().comm); });
    window_count(series.test, options.shape(), "test");
    const auto windows = window_count(series.train, options.shape(), "training");
    options.split(check.context().seed).splits(windows, options.shape(), options.protocol);
    options.period_days(series);
    return series;
  });
}

void ForecastTask::examine(Check& check) {
  for (const char* name : {"scores.csv", "forecast.h5"}) check.will_write({name, {Origin::stage, "forecast"}});
  if (!check.stage().tried) return;
  check.require_written_by("ensemble", params_.ensemble, {{Origin::ensemble_of, "search"}});
  const auto series = look_at_series(params_.common, check);
  if (series && !params_.ensemble.empty() && !check.waits(params_.ensemble))
    deck::about_key("forecast.ensemble", "ensemble",
                    [&] { Ensemble(params_.ensemble, params_.common.shape(), series->modes(), check.context()); });
}

/// Dimensions that forecasts share: times back and ahead of the last that a forecast sees, and modes.
static void write_forecast_axes(io::File& out, const WindowShape& shape, std::int64_t modes) {
  io::follow_cf(out);
  auto add = [&](const char* name, std::int64_t first, std::int64_t count, const char* meaning) {
    std::vector<std::int64_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), first);
    io::labelled(out.write(name, numbers), "", meaning);
  };
  add("past_time", 1 - shape.past, shape.past, "times before the last that a forecast sees");
  add("lead", 1, shape.future, "times after the last that a forecast sees");
  add("mode", 1, modes, "number of the mode");
}

/// Dates where the series has some: days since the date of its unit.
static void write_issued(io::File& out, const std::vector<double>& days, io::cf::TimeUnit unit) {
  const bool dated = unit.has_date();
  unit.seconds = 86400.0;
  unit.text.clear();
  auto array = io::labelled(out.write("issued", days), dated ? io::cf::plain_unit(unit).text : "",
                            "last time that a forecast sees");
  if (!dated) return;
  array.set_attribute("standard_name", "forecast_reference_time");
  array.set_attribute("calendar", std::string(io::cf::name_of(unit.calendar)));
}

void report_table(const std::vector<TableRow>& rows, const Series& series, const WindowShape& shape, Context& context) {
  const std::int64_t m = series.modes();
  namespace fs = std::filesystem;
  for (const auto& line : table_text(rows, series.unit)) context.log.info(line);
  context.log.info(
      "R2: mean over leads and modes. blocked, random: validation when fitted to the other training windows; random "
      "windows overlap the fitted ones.");
  const auto table = (fs::path(context.run_directory) / "scores.csv").string();
  const auto file = (fs::path(context.run_directory) / "forecast.h5").string();
  io::on_root(context.comm, [&] {
    io::write_file_atomically(table, table_csv(rows, m, shape.future));
    io::write_h5_atomically(file, [&](io::File& out) {
      const auto starts = all_starts(window_count(series.test, shape, "test"));
      const Matrix truth = targets(series.test.a, starts, shape), past = inputs(series.test.a, starts, shape);
      write_forecast_axes(out, shape, m);
      std::vector<double> issued;
      for (std::int64_t i : starts) issued.push_back(series.test.days[i + shape.past - 1]);
      write_issued(out, issued, series.time_unit);
      auto add = [&](const std::string& name, const Matrix& values, const char* along, std::int64_t times,
                     const std::string& meaning) {
        io::labelled(out.write(name, io::tensor_of(values.a.data(), {values.rows, times, m})), series.unit, meaning);
        out.attach_scales(name, {"issued", along, "mode"});
        io::show_at_top(out, "/" + name, io::plain_name(name));
      };
      add("past", past, "past_time", shape.past, "true coefficients that a forecast sees");
      add("truth", truth, "lead", shape.future, "true coefficients");
      // Without the blanks that set a row of the table in: netCDF takes no name that begins with one.
      for (const auto& row : rows)
        if (row.spread.rows > 0)
          add(fmt::format("spread/{}", trim(row.name)), row.spread, "lead", shape.future,
              "standard deviation over the networks of the ensemble");
      for (const auto& row : rows) {
        const auto name = fmt::format("forecast/{}", trim(row.name));
        add(name, row.forecast, "lead", shape.future, fmt::format("coefficients forecast by {}", trim(row.name)));
        out.dataset(name).set_attribute("test_r2", row.test.r2);
      }
      io::write_provenance(out, io::provenance_of(context));
    });
  });
}

/// The linear inverse model, with its tau test in the log; none, with a warning, where the series gives no LIM.
static std::optional<TableRow> lim_row(const ForecastOptions& o, const Series& series, Context& context) {
  const auto chosen =
      choose_lim(o.inverse_model(series), o.lim.lags, o.lim.ridges, series, o.shape(), o.split(context.seed));
  if (!chosen) {
    context.log.warn(
        "no linear inverse model: for every lag and ridge of lim the propagator grows or has no real logarithm");
    return {};
  }
  context.log.info(fmt::format("LIM: lag {}, ridge {:g}, chosen by validation, R2 {:.4f}", chosen->options.lag,
                               chosen->options.ridge, chosen->r2));
  const auto starts = all_starts(window_count(series.train, o.shape(), "training"));
  const FitData all{series.train, o.shape(), series.train.times(), starts};
  for (const auto& line :
       tau_text(tau_test(chosen->options, all, std::max<std::int64_t>(o.horizon, 4)), series.spacing()))
    context.log.info(line);
  LinearInverseModel model(chosen->options);
  return evaluate(model, series, o.shape(), o.split(context.seed));
}

std::vector<TableRow> baseline_rows(const ForecastOptions& o, const Series& series, Context& context) {
  auto options = o.baselines(series);
  options.last_ridge = choose_last_ridge(options, series, o.shape(), o.split(context.seed));
  context.log.info(
      fmt::format("harmonics + ridge (last time): penalty {:g}, chosen by validation", options.last_ridge));
  std::vector<TableRow> rows;
  for (auto& method : baselines(options)) rows.push_back(evaluate(*method, series, o.shape(), o.split(context.seed)));
  if (auto row = lim_row(o, series, context)) rows.push_back(std::move(*row));
  return rows;
}

TableRow ForecastTask::ensemble_row(const Series& series, Context& context) const {
  const WindowShape shape = params_.common.shape();
  const Ensemble ensemble(params_.ensemble, shape, series.modes(), context);
  const auto test = all_starts(window_count(series.test, shape, "test"));
  const Matrix truth = targets(series.test.a, test, shape);
  TableRow row;
  row.name = ensemble.name();
  row.forecast = ensemble.predict(series.test, test, shape, row.spread);
  row.test = score(truth, row.forecast, series.modes());
  row.rmse = rmse_by_lead(series, truth, row.forecast, shape);
  return row;
}

Task::Outcome ForecastTask::run(Context& context) {
  const auto& o = params_.common;
  const Series series = read_series(o.series, context.comm);
  for (const auto& words : {uneven_times(series), coarse_times(series, o.period_days(series))})
    if (!words.empty()) context.log.warn(words);
  const auto n = window_count(series.train, o.shape(), "training"),
             tests = window_count(series.test, o.shape(), "test");
  context.log.info(fmt::format("forecast: {} modes, {} training windows, {} test windows of {} + {} times",
                               series.modes(), n, tests, o.window, o.horizon));
  std::vector<TableRow> rows;
  for (auto& row : baseline_rows(o, series, context)) rows.push_back(std::move(row));
  if (!params_.ensemble.empty()) rows.push_back(ensemble_row(series, context));
  report_table(rows, series, o.shape(), context);
  work_ = {n + tests, "window"};
  return Outcome::done;
}

std::vector<Citation> ForecastTask::citations() const { return forecast_citations(); }

}  // namespace cambium::podlstm
