#include "plugins/podlstm/tasks/forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/deck/about_key.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/memory.hpp"
#include "core/plugin/check.hpp"
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
  d("residual", &Params::residual, "networks trained on the residual of the LIM; default: none");
  d("members", &Params::members, "members of an ensemble forecast, made by the noise of the LIM; 0: no ensemble")
      .at_least(0)
      .at_most(10000)
      .def(100);
  d("ahead", &Params::ahead, "number of times to forecast beyond the last date of the series, into ahead.nc")
      .at_least(0)
      .def(0);
  d("index", &Params::index, "indices of the field, means over boxes of latitude and longitude, such as Nino-3.4")
      .def({});
  d.check([](const Params& p) -> std::string {
    if (p.members == 1) return "members: a spread needs at least two members; give more, or 0 for no ensemble";
    if (p.members == 0 && (p.ahead > 0 || !p.index.empty() || p.residual))
      return "members: 0, but ahead, index and residual are of an ensemble; give members: 100";
    std::set<std::string> names;
    for (const auto& index : p.index)
      if (!names.insert(io::plain_name(index.name)).second)
        return fmt::format("index: two indices have the name '{}'; rename one of them", index.name);
    return "";
  });
}

void ForecastTask::require_ahead() const {
  if (params_.ahead > params_.common.horizon)
    throw KeyError("forecast.ahead.horizon", "ahead",
                   fmt::format("ahead: {} times, but forecasts are validated over {} only; raise data.horizon or lower "
                               "ahead",
                               params_.ahead, params_.common.horizon));
}

std::optional<Series> look_at_series(const ForecastOptions& options, Check& check, bool judged) {
  check.require_written_by("data.series.file", options.series.file, {{Origin::stage, "pod"}, {Origin::stage, "embed"}});
  if (check.waits(options.series.file)) {
    check.not_looked_at(fmt::format("the series: '{}' is still to be written", options.series.file));
    return {};
  }
  return deck::about_key("", "data", [&] {
    Series series = deck::about_key("series.file", "series.file", "series",
                                    [&] { return read_series(options.series, check.context().comm); });
    if (judged || series.test.times() > 0) window_count(series.test, options.shape(), "test");
    const auto windows = window_count(series.train, options.shape(), "training");
    options.split(check.context().seed).splits(windows, options.shape(), options.protocol);
    options.period_days(series);
    return series;
  });
}

void ForecastTask::examine(Check& check) {
  for (const char* name : {"scores.csv", "forecast.h5"}) check.will_write({name, {Origin::stage, "forecast"}});
  if (params_.ahead > 0) check.will_write({"ahead.nc", {Origin::stage, "forecast"}});
  if (!check.stage().tried) return;
  check.context().log.info(fmt::format("forecast: {} times -> {} times of '{}'", params_.common.window,
                                       params_.common.horizon, params_.common.series.file));
  require_ahead();
  check.require_written_by("ensemble", params_.ensemble, {{Origin::ensemble_of, "search"}});
  const auto series = look_at_series(params_.common, check, params_.ahead == 0);
  if (series && !params_.ensemble.empty() && !check.waits(params_.ensemble))
    deck::about_key("forecast.ensemble", "ensemble",
                    [&] { Ensemble(params_.ensemble, params_.common.shape(), series->modes(), check.context()); });
}

/// Common dimensions of forecasts: times before and after the last input time, and modes.
static void write_forecast_axes(io::File& out, const WindowShape& shape, std::int64_t modes) {
  io::follow_cf(out);
  auto add = [&](const char* name, std::int64_t first, std::int64_t count, const char* meaning) {
    std::vector<std::int64_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), first);
    io::labelled(out.write(name, numbers), "", meaning);
  };
  add("past_time", 1 - shape.past, shape.past, "input times, relative to the last input of a forecast");
  add("lead", 1, shape.future, "times after the last input of a forecast");
  add("mode", 1, modes, "mode number");
}

/// As dates if the series has them: days since the reference date.
static void write_issued(io::File& out, const std::vector<double>& days, io::cf::TimeUnit unit) {
  const bool dated = unit.has_date();
  unit.seconds = 86400.0;
  unit.text.clear();
  auto array = io::labelled(out.write("issued", days), dated ? io::cf::plain_unit(unit).text : "",
                            "last input time of a forecast");
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
      add("past", past, "past_time", shape.past, "true coefficients in the input window of a forecast");
      add("truth", truth, "lead", shape.future, "true coefficients");
      // Strips the indentation of table rows: netCDF does not accept names with a leading blank.
      for (const auto& row : rows)
        if (row.spread.rows > 0)
          add(fmt::format("spread/{}", trim(row.name)), row.spread, "lead", shape.future,
              "standard deviation over the members of the ensemble");
      for (const auto& row : rows)
        if (row.lower.rows > 0) {
          add("lower", row.lower, "lead", shape.future, "lower bound of the central 90 % interval of the ensemble");
          add("upper", row.upper, "lead", shape.future, "upper bound of the central 90 % interval of the ensemble");
        }
      for (const auto& row : rows) {
        const auto name = fmt::format("forecast/{}", trim(row.name));
        add(name, row.forecast, "lead", shape.future, fmt::format("coefficients forecast by {}", trim(row.name)));
        out.dataset(name).set_attribute("test_r2", row.test.r2);
      }
      io::write_provenance(out, io::provenance_of(context));
    });
  });
}

LinearChoice choose_linear_methods(const ForecastOptions& o, const Series& series, Context& context) {
  LinearChoice out;
  out.last_ridge = choose_last_ridge(o.baselines(series), series, o.shape(), o.split(context.seed));
  context.log.info(fmt::format("harmonics + ridge (last time): penalty {:g}, chosen by validation", out.last_ridge));
  out.lim = choose_lim(o.inverse_model(series), o.lim.lags, o.lim.ridges, series, o.shape(), o.split(context.seed));
  if (!out.lim) {
    context.log.warn("no linear inverse model: for every lag and ridge of lim the propagator has no real logarithm");
    return out;
  }
  const auto& chosen = *out.lim;
  context.log.info(fmt::format("LIM: lag {}, ridge {:g}, chosen by validation, R2 {:.4f}", chosen.options.lag,
                               chosen.options.ridge, chosen.r2));
  const FitData all{series.train, o.shape(), series.train.times(),
                    all_starts(window_count(series.train, o.shape(), "training"))};
  const auto test = tau_test(chosen.options, all, std::max<std::int64_t>(o.horizon, 4));
  for (const auto& line : tau_text(test, series.spacing())) context.log.info(line);
  return out;
}

std::vector<TableRow> baseline_rows(const ForecastOptions& o, const Series& series, const LinearChoice& choice,
                                    Context& context) {
  auto options = o.baselines(series);
  options.last_ridge = choice.last_ridge;
  auto methods = baselines(options);
  if (choice.lim) methods.push_back(std::make_unique<LinearInverseModel>(choice.lim->options));
  std::vector<TableRow> rows;
  for (auto& method : methods) rows.push_back(evaluate(*method, series, o.shape(), o.split(context.seed)));
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

/// Writes to selection.json, before the test years are evaluated: the choices by validation, and the number of test
/// evaluations of this stage, including earlier runs, even one moved aside by --overwrite.
static void count_test_evaluation(const LinearChoice& linear, const ProbabilisticChoice* probabilistic,
                                  Context& context) {
  namespace fs = std::filesystem;
  const fs::path folder = context.run_directory, name = "selection.json";
  int looks = 0;
  for (const auto& path : {folder / name, folder.parent_path() / "previous" / folder.filename() / name})
    if (std::ifstream file(path); file)
      if (const auto before = nlohmann::json::parse(file, nullptr, false); before.contains("test_evaluations"))
        looks = std::max(looks, before["test_evaluations"].get<int>());
  nlohmann::json chosen{{"last_time_penalty", linear.last_ridge}, {"test_evaluations", looks + 1}};
  if (linear.lim)
    chosen["lim"] = {{"lag", linear.lim->options.lag}, {"ridge", linear.lim->options.ridge}, {"r2", linear.lim->r2}};
  if (probabilistic && probabilistic->keys) {
    const auto& r = probabilistic->residual;
    chosen["residual"] = {{"epochs", r.epochs}, {"share", r.share}, {"r2", r.r2}};
  }
  io::write_file_atomically((folder / name).string(), chosen.dump(2) + "\n");
  if (looks > 0)
    context.log.warn(
        fmt::format("this stage has forecast the test years {} time(s) before: whatever was changed since, they test "
                    "it no longer; keep other years for that",
                    looks));
}

void ForecastTask::judge(const Series& series, const LinearChoice& linear, const ProbabilisticForecast* probabilistic,
                         const std::vector<BoxMean>& indices, Context& context) {
  const auto& o = params_.common;
  std::vector<TableRow> rows = baseline_rows(o, series, linear, context);
  std::vector<Comparison> comparisons;
  if (probabilistic) rows.push_back(probabilistic->test(indices, comparisons));
  if (!params_.ensemble.empty()) rows.push_back(ensemble_row(series, context));
  report_table(rows, series, o.shape(), context);
  for (const auto& comparison : comparisons)
    for (const auto& line : comparison_text(comparison)) context.log.info(line);
  files_ = {"selection.json", "scores.csv", "forecast.h5"};
  if (!comparisons.empty()) {
    const auto path = (std::filesystem::path(context.run_directory) / "probabilities.csv").string();
    io::on_root(context.comm, [&] { io::write_file_atomically(path, comparison_csv(comparisons)); });
    files_.emplace_back("probabilities.csv");
  }
  add_results(rows, comparisons);
}

void ForecastTask::add_results(const std::vector<TableRow>& rows, const std::vector<Comparison>& comparisons) {
  for (const auto& row : rows)
    results_.push_back(in_table(key_of(row.name) + "_test_r2", "test R2: " + row.name, row.test.r2));
  for (const auto& c : comparisons) {
    const auto& last = c.of.back();
    double inside = 0.0;
    for (double x : last.coverage) inside += 100.0 * x / static_cast<double>(last.coverage.size());
    results_.push_back(
        in_table(key_of(c.what) + "_coverage_90", c.what + ": truths in the 90 % interval, mean of leads", inside));
    results_.back().unit = "%";
    for (std::size_t h = 0; h < last.crps.size(); ++h)
      for (const auto& v : c.of)
        results_.push_back(in_table(key_of(fmt::format("{} {} crps {}", c.what, v.name, h + 1)),
                                    fmt::format("{}: CRPS of {} at lead {}", c.what, v.name, h + 1), v.crps[h]));
  }
}

Task::Outcome ForecastTask::run(Context& context) {
  const auto& o = params_.common;
  require_ahead();
  const Series series = read_series(o.series, context.comm);
  for (const auto& words : {uneven_times(series), coarse_times(series, o.period_days(series))})
    if (!words.empty()) context.log.warn(words);
  const bool judged = params_.ahead == 0 || series.test.times() > 0;
  const auto n = window_count(series.train, o.shape(), "training"),
             tests = judged ? window_count(series.test, o.shape(), "test") : 0;
  context.log.info(fmt::format("forecast: {} modes, {} training windows, {} test windows of {} + {} times",
                               series.modes(), n, tests, o.window, o.horizon));
  const LinearChoice linear = choose_linear_methods(o, series, context);
  std::optional<PodMaps> maps;
  std::vector<BoxMean> indices;
  std::optional<ProbabilisticChoice> choice;
  std::optional<ProbabilisticForecast> probabilistic;
  if (params_.members > 0 && linear.lim) {
    require_memory(8.0 * static_cast<double>(params_.members * tests * o.horizon * series.modes()),
                   fmt::format("{} members of {} windows", params_.members, tests), "give fewer 'members'", context);
    io::on_every_rank(context.comm, [&] {
      if (!params_.index.empty() || (params_.ahead > 0 && PodMaps::in(o.series.file)))
        maps = deck::about_key("forecast.maps", "index", [&] { return PodMaps::read(o.series.file, series.modes()); });
    });
    for (const auto& k : params_.index)
      indices.push_back(
          deck::about_key("forecast.index", "index", [&] { return BoxMean::of(*maps, k.name, k.lat, k.lon); }));
    if (maps && params_.ahead > 0)
      deck::about_key("forecast.ahead.names", "index", [&] { require_names_ahead(*maps, indices); });
    choice = choose_probabilistic(*linear.lim, params_.residual, series, o.shape(), o.split(context.seed), context);
    probabilistic.emplace(*choice, series, o.shape(), params_.members, context);
  } else if (params_.ahead > 0 || params_.residual || !params_.index.empty()) {
    throw InputError(
        "ahead, index and residual take a linear inverse model, but this series gives none; give other lags or larger "
        "ridges in data.lim, or a longer training series");
  }
  if (judged) {
    io::on_root(context.comm, [&] { count_test_evaluation(linear, choice ? &*choice : nullptr, context); });
    judge(series, linear, probabilistic ? &*probabilistic : nullptr, indices, context);
  }
  if (params_.ahead > 0) {
    write_ahead(*probabilistic, series, o.shape(), params_.ahead, maps ? &*maps : nullptr, indices, context);
    files_.emplace_back("ahead.nc");
  }
  work_ = {n + tests, "window"};
  return Outcome::done;
}

std::vector<Citation> ForecastTask::citations() const {
  auto out = forecast_citations();
  for (const auto& citation : inverse_model_citations(params_.members > 0)) out.push_back(citation);
  return out;
}

}  // namespace cambium::podlstm
