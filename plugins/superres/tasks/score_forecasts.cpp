#include "plugins/superres/tasks/score_forecasts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <limits>
#include <set>

#include "core/base/key_error.hpp"
#include "core/deck/node.hpp"
#include "core/io/csv.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "plugins/superres/datasets/snapshots.hpp"
#include "plugins/superres/equations/stated_flow.hpp"
#include "plugins/superres/equations/well_layout.hpp"
#include "plugins/superres/evaluate/vrmse.hpp"
#include "plugins/superres/samples/trained_flow.hpp"
#include "plugins/superres/samples/window.hpp"

namespace cambium::superres {
namespace {

const std::string coarse_row = "coarse_solver", finer_row = "finer_solver";
constexpr double absent = std::numeric_limits<double>::quiet_NaN();

/// A value of the table, or a dash.
std::string cell(bool known, int width, const std::string& number) {
  return fmt::format("{:>{}}", known ? number : "-", width);
}

/// The frames first..first+count-1.
FieldData frames_of(const FieldData& data, std::size_t first, std::size_t count) {
  FieldData out = data;
  const std::size_t nodes = data.nx() * data.nz();
  const auto part = [&](const auto& from, std::size_t each) {
    return std::decay_t<decltype(from)>(from.begin() + static_cast<std::ptrdiff_t>(first * each),
                                        from.begin() + static_cast<std::ptrdiff_t>((first + count) * each));
  };
  out.axis[0] = part(data.axis[0], 1);
  for (std::size_t f = 0; f < out.values.size(); ++f) out.values[f] = part(data.values[f], nodes);
  return out;
}

std::vector<std::string> rows_of(const ScoreForecasts::Params& keys) {
  auto out = keys.methods;
  for (const auto& [name, file] : keys.models) out.push_back(name);
  for (const auto& [name, file] : keys.corrections) out.push_back(name);
  for (const auto& [name, files] : keys.forecasts) out.push_back(name);
  return out;
}

/// True if a row integrates the equations of the data.
bool solves(const ScoreForecasts::Params& keys) {
  return !keys.corrections.empty() || std::any_of(keys.methods.begin(), keys.methods.end(), [](const auto& method) {
    return method == "solver" || method == coarse_row || method == finer_row;
  });
}

double mean_of_fields(const std::array<double, 4>& errors) {
  double sum = 0.0;
  for (double e : errors) sum += e;
  return sum / static_cast<double>(errors.size());
}

/// Checks that names and files of the rows are consistent.
void check_rows(deck::Describe<ScoreForecasts::Params>& d) {
  using Params = ScoreForecasts::Params;
  d.check([](const Params& p) -> std::string {
    for (const auto& [name, files] : p.forecasts)
      for (const auto* list : {&files.one_step, &files.rollout})
        if (!list->empty() && list->size() != p.data.size())
          return fmt::format("forecast '{}' names {} file(s), and 'data' {}: give one for each", name, list->size(),
                             p.data.size());
    return {};
  });
  d.check([](const Params& p) -> std::string {
    std::set<std::string> seen;
    for (const auto& name : rows_of(p))
      if (!seen.insert(name).second)
        return fmt::format(
            "two rows of the table are named '{}': give each of 'methods', 'models', 'corrections' and "
            "'forecasts' a name of its own",
            name);
    return {};
  });
}

}  // namespace

void ScoreForecasts::Params::describe(deck::Describe<Params>& d) {
  d("data", &Params::data,
    "HDF5 files of p, b, u, w by (t, x, z), one for each run that is forecast; of The Well FILE#3")
      .example("[\"{run}/simulate_3/fields.h5\"]");
  d("methods", &Params::methods,
    "baselines without a model: persistence (the last frame again), mean (the spatial mean of the last frame), solver "
    "(rayleigh_benard or cavity from the last frame on the grid of the data), coarse_solver and finer_solver "
    "(the same on a coarser grid and on a finer one)")
      .options({"persistence", "mean", "solver", "coarse_solver", "finer_solver"})
      .def({"persistence", "mean", "solver"});
  d("models", &Params::models, "trained networks that forecast: a name for the table, and the model's file").def({});
  d("corrections", &Params::corrections,
    "networks trained on a data set 'corrections': a name for the table, and the model's file; the row is the solver "
    "on "
    "the grid of the data with the network's increments after each frame")
      .def({});
  d("forecasts", &Params::forecasts,
    "forecasts in files, by 'assimilate' or by another program: a name for the table, and files of the layouts of "
    "'data', on its grid or another one of its domain")
      .def({});
  d("allow_other_parameters", &Params::allow_other_parameters,
    "true: 'models' and 'corrections' may have been trained on flows with another Rayleigh or Prandtl number or other "
    "plates; the run warns of it")
      .def(false);
  d("rayleigh", &Params::rayleigh, "Rayleigh number of the data; the solver needs it").non_negative().def(0.0);
  d("prandtl", &Params::prandtl, "Prandtl number of the data; default: that of the file, or 1 if it states none")
      .positive();
  d("plates", &Params::plates, "velocity on the plates of the data")
      .options({{"no_slip", Wall::no_slip}, {"free_slip", Wall::free_slip}})
      .def(Wall::no_slip);
  d("coarse", &Params::coarse, "grid points of the data per cell of 'coarse_solver', along x and z").at_least(2).def(4);
  d("finer", &Params::finer, "cells of 'finer_solver' per grid point of the data, along x and z").at_least(2).def(2);
  d("history", &Params::history, "number of input frames of a forecast").at_least(1).def(4);
  d("frames", &Params::frames, "frames of each file to use, from the end").at_least(2).def(200);
  d("every", &Params::every, "frames between the starts of forecasts of one step").at_least(1).def(1);
  d("horizon", &Params::horizon, "frames of the long forecast, which starts with the first frames of each file")
      .at_least(1)
      .def(30);
  d("windows", &Params::windows,
    "ranges [first, end) of leads over which the error of the long forecast is averaged; the first forecast frame has "
    "the lead 0")
      .def({{6, 12}, {13, 30}});
  d("periodic", &Params::periodic,
    "true if x is periodic; default: as in the file or, if it does not state it, detected from the values at both "
    "ends");
  d.check([](const Params& p) -> std::string {
    for (const auto& w : p.windows)
      if (w[0] < 0 || w[1] <= w[0] || w[1] > p.horizon)
        return fmt::format("window [{}, {}] does not lie within the {} frames of 'horizon'", w[0], w[1], p.horizon);
    return p.data.empty() ? "'data' names no file" : "";
  });
  d.check([](const Params& p) {
    return solves(p) && p.rayleigh == 0.0 ? "the solver needs 'rayleigh', that of the data" : "";
  });
  check_rows(d);
}

std::vector<std::string> ScoreForecasts::rows() const { return rows_of(params_); }

void ScoreForecasts::examine(Check& check) {
  check.will_write({"scores.csv", {Origin::stage, "score_forecasts"}});
  check.will_write({"leads.csv", {Origin::stage, "score_forecasts"}});
  check.context().log.info(
      fmt::format("score_forecasts: {} over {} file(s), one step and {} frames ahead from {} input frames",
                  fmt::join(rows(), ", "), params_.data.size(), params_.horizon, params_.history));
}

std::unique_ptr<Forecaster> ScoreForecasts::forecaster(const std::string& method, const Runs& runs, std::size_t run,
                                                       Models& models) const {
  const FieldData& truth = runs.flows[run];
  const Convected& flow = runs.equations[run];
  const double b_shift = runs.shifts[run];
  if (const auto found = params_.models.find(method); found != params_.models.end())
    return network_forecaster(models.forecasts.at(method), found->second, truth, params_.history);
  if (params_.corrections.contains(method))
    return corrected_forecaster({flow, b_shift}, method, models.corrections.at(method), truth);
  if (method == "persistence") return persistence_forecaster();
  if (method == "mean") return mean_forecaster();
  return solver_forecaster(
      {flow, b_shift, method == coarse_row ? params_.coarse : 1, method == finer_row ? params_.finer : 1}, method);
}

void ScoreForecasts::score_steps(Forecaster& forecaster, const FieldData& truth, ForecastScores& out) const {
  const auto history = static_cast<std::size_t>(params_.history);
  for (std::size_t t = history; t < truth.axis[0].size(); t += static_cast<std::size_t>(params_.every)) {
    forecaster.start(frames_of(truth, t - history, history));
    const auto errors = vrmse_of(forecaster.next(truth.axis[0][t]), truth, t);
    for (std::size_t f = 0; f < errors.size(); ++f) out.one_step[f] += errors[f];
  }
  out.steps = true;
}

void ScoreForecasts::score_leads(Forecaster& forecaster, const FieldData& truth, double share,
                                 ForecastScores& out) const {
  const auto history = static_cast<std::size_t>(params_.history);
  forecaster.start(frames_of(truth, 0, history));
  bool below = true;
  const std::clock_t began = std::clock();
  for (std::size_t lead = 0; lead < out.by_lead.size(); ++lead) {
    const std::size_t t = history + lead;
    const double error = mean_of_fields(vrmse_of(forecaster.next(truth.axis[0][t]), truth, t));
    out.by_lead[lead] += share * error;
    below = below && error <= 1.0;
    if (below) out.steps_below_one += share;
  }
  out.seconds += share / params_.horizon * static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  out.leads = true;
}

ForecastScores ScoreForecasts::scores_of(const std::string& method, const Runs& runs, Models& models) const {
  ForecastScores out;
  out.by_lead.assign(static_cast<std::size_t>(params_.horizon), 0.0);
  const double share = 1.0 / static_cast<double>(runs.flows.size());
  const auto files = params_.forecasts.find(method);
  double steps = 0.0;
  for (std::size_t r = 0; r < runs.flows.size(); ++r) {
    const FieldData& truth = runs.flows[r];
    steps += std::ceil((static_cast<double>(truth.axis[0].size()) - params_.history) / params_.every);
    if (files == params_.forecasts.end()) {
      const auto forecaster = this->forecaster(method, runs, r, models);
      score_steps(*forecaster, truth, out);
      score_leads(*forecaster, truth, share, out);
      continue;
    }
    const auto& [one_step, rollout] = files->second;
    if (!one_step.empty()) score_steps(*file_forecaster(one_step[r], truth, runs.shifts[r]), truth, out);
    if (!rollout.empty()) score_leads(*file_forecaster(rollout[r], truth, runs.shifts[r]), truth, share, out);
  }
  for (double& e : out.one_step) e = out.steps ? e / steps : absent;
  if (files != params_.forecasts.end()) out.seconds = absent;
  if (!out.leads) out.by_lead.assign(out.by_lead.size(), absent);
  return out;
}

double ScoreForecasts::window_mean(const ForecastScores& scores, const std::array<int, 2>& window) const {
  return mean_of(std::span(scores.by_lead)
                     .subspan(static_cast<std::size_t>(window[0]), static_cast<std::size_t>(window[1] - window[0])));
}

void ScoreForecasts::report(const std::map<std::string, ForecastScores>& scores, Context& context) {
  std::string head = fmt::format("{:<20}{:>10}{:>10}{:>10}{:>10}{:>10}", "VRMSE", "one step", "p", "b", "u", "w");
  for (const auto& w : params_.windows) head += fmt::format("{:>10}", fmt::format("{}:{}", w[0], w[1]));
  context.log.info(head + fmt::format("{:>12}{:>12}", "frames < 1", "ms/frame"));
  for (const auto& row : rows()) {
    const auto& s = scores.at(row);
    std::string line =
        fmt::format("{:<20}", row) + cell(s.steps, 10, fmt::format("{:.4f}", mean_of_fields(s.one_step)));
    for (double e : s.one_step) line += cell(s.steps, 10, fmt::format("{:.4f}", e));
    for (const auto& w : params_.windows) line += cell(s.leads, 10, fmt::format("{:.4f}", window_mean(s, w)));
    context.log.info(line + cell(s.leads, 12, fmt::format("{:.1f}", s.steps_below_one)) +
                     cell(!std::isnan(s.seconds), 12, fmt::format("{:.2g}", 1e3 * s.seconds)));
    append(results_, results_of(row, s));
  }
}

std::vector<Result> ScoreForecasts::results_of(const std::string& row, const ForecastScores& s) const {
  std::vector<Result> out;
  if (s.steps)
    out.push_back({.key = fmt::format("one_step_{}", row),
                   .label = fmt::format("VRMSE of one step: {}", row),
                   .value = mean_of_fields(s.one_step)});
  if (s.leads) {
    for (const auto& w : params_.windows)
      out.push_back({.key = fmt::format("window_{}_{}_{}", w[0], w[1], row),
                     .label = fmt::format("VRMSE of leads {}:{}: {}", w[0], w[1], row),
                     .value = window_mean(s, w)});
    out.push_back({.key = fmt::format("frames_below_one_{}", row),
                   .label = fmt::format("frames until VRMSE exceeds 1: {}", row),
                   .value = s.steps_below_one});
  }
  if (!std::isnan(s.seconds))
    out.push_back({.key = fmt::format("seconds_per_frame_{}", row),
                   .label = fmt::format("time of one core for a frame: {}", row),
                   .value = s.seconds,
                   .unit = "s"});
  return out;
}

void ScoreForecasts::write(const std::map<std::string, ForecastScores>& scores, const Context& context) const {
  const std::filesystem::path folder(context.run_directory);
  std::vector<io::Column> columns{{"lead", "", "forecast frames before this one"}};
  std::vector<std::vector<double>> table{{}};
  for (int lead = 0; lead < params_.horizon; ++lead) table[0].push_back(lead);
  std::vector<io::Column> names;
  std::vector<std::vector<double>> one;
  const auto column = [&](const std::string& name, const std::string& meaning, const auto& value) {
    names.push_back({name, "", meaning});
    one.emplace_back();
    for (const auto& row : rows()) one.back().push_back(value(scores.at(row)));
  };
  for (const auto& row : rows()) {
    columns.push_back({row, "", "VRMSE, mean over fields and files"});
    table.push_back(scores.at(row).by_lead);
  }
  io::write_csv((folder / "leads.csv").string(), columns, table);
  column("one_step", "VRMSE of one step, mean over fields", [](const auto& s) { return mean_of_fields(s.one_step); });
  for (std::size_t f = 0; f < flow_fields.size(); ++f)
    column("one_step_" + flow_fields[f], "VRMSE of one step", [f](const auto& s) { return s.one_step[f]; });
  for (const auto& w : params_.windows)
    column(fmt::format("window_{}_{}", w[0], w[1]), "VRMSE over these leads",
           [&](const auto& s) { return window_mean(s, w); });
  column("frames_below_one", "until VRMSE exceeds 1",
         [](const auto& s) { return s.leads ? s.steps_below_one : absent; });
  io::write_csv((folder / "scores.csv").string(), names, one);
}

ScoreForecasts::Models ScoreForecasts::loaded(Context& context) {
  Models out;
  for (const auto& [name, file] : params_.models) {
    const auto& model = out.forecasts.emplace(name, train::load_artifact(file, context)).first->second;
    require_trained(model.info, file, deck::child_path("models", name), context);
    for (const auto& path : params_.data)
      if (const auto words = train::met_before(model.info, name, path); !words.empty()) context.log.warn(words);
    for (const auto& citation : model.network->citations()) citations_.push_back(citation);
  }
  for (const auto& [name, file] : params_.corrections) {
    const auto& model = out.corrections.try_emplace(name, file, context).first->second;
    require_trained(model.info(), file, deck::child_path("corrections", name), context);
    for (const auto& citation : model.citations()) citations_.push_back(citation);
  }
  return out;
}

void ScoreForecasts::require_trained(const train::ArtifactInfo& info, const std::string& file, const std::string& key,
                                     Context& context) const {
  for (const auto& path : params_.data) {
    auto flow = StatedFlow::of(path);
    if (params_.rayleigh > 0.0) flow.rayleigh = params_.rayleigh;
    if (params_.prandtl) flow.prandtl = params_.prandtl;
    require_trained_on(info, flow, {file, fmt::format("'{}'", path), key, params_.allow_other_parameters}, context);
  }
}

Convected ScoreForecasts::equations_of(const std::string& path) const {
  const auto stated = StatedFlow::of(path);
  if (params_.rayleigh > 0.0) stated.require_rayleigh(params_.rayleigh);
  const double prandtl = stated.prandtl_of(params_.prandtl);
  if (solves(params_)) stated.require_plane("data", "leave out the methods of the solver and 'corrections'");
  if (solves(params_)) stated.require_plates(name_of(params_.plates));
  return {params_.rayleigh, prandtl, params_.plates};
}

ScoreForecasts::Runs ScoreForecasts::read() {
  Runs out;
  const int needed = params_.history + params_.horizon;
  for (const auto& path : params_.data) {
    const bool of_the_well = require_layer(path);
    out.equations.push_back(equations_of(path));
    out.shifts.push_back(of_the_well ? well_b_shift : 0.0);
    if (of_the_well && citations_.empty()) citations_.push_back(well_citation());
    out.flows.push_back(read_fields(path, flow_fields, static_cast<std::size_t>(params_.frames), params_.periodic));
    require_no_bodies(out.flows.back());
    if (std::ssize(out.flows.back().axis[0]) < needed)
      throw KeyError("score_forecasts.horizon", "horizon",
                     fmt::format("'{}' gives {} frames, fewer than 'history' {} and 'horizon' {} together: give longer "
                                 "runs, or a shorter horizon",
                                 path, out.flows.back().axis[0].size(), params_.history, params_.horizon));
  }
  return out;
}

Task::Outcome ScoreForecasts::run(Context& context) {
  io::on_root(context.comm, [&] {
    const Runs runs = read();
    Models models = loaded(context);
    std::map<std::string, ForecastScores> scores;
    for (const auto& row : rows()) scores[row] = scores_of(row, runs, models);
    report(scores, context);
    write(scores, context);
    work_ = {std::ssize(runs.flows) * std::ssize(scores), "forecast"};
  });
  return Outcome::done;
}

}  // namespace cambium::superres
