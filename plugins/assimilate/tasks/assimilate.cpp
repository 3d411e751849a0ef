#include "plugins/assimilate/tasks/assimilate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/key_error.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/random.hpp"
#include "core/parallel/stop_request.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"
#include "plugins/assimilate/twin/forecast_file.hpp"
#include "plugins/assimilate/twin/report.hpp"

namespace cambium::assimilate {

/// Cycle 24 of 0.05 is at 1.2000000000000002: bounds of time in a deck hold within this part of a cycle.
static constexpr double rounding = 1e-6;

void Assimilate::Observed::describe(deck::Describe<Observed>& d) {
  d("fields", &Observed::fields, "fields that are observed; default: all").def({});
  d("every", &Observed::every, "time between two analyses").positive();
  d("stride", &Observed::stride, "cells of the model per observation along x and z").def({1, 1});
  d("operator", &Observed::operation,
    "points: values at every stride-th cell centre or at 'positions'; blocks: means over stride x stride cells")
      .options({{"points", Operator::points}, {"blocks", Operator::blocks}})
      .def(Operator::points);
  d("positions", &Observed::positions, "observed positions [x, z], instead of every stride-th cell").def({});
  d("between_x", &Observed::between_x, "lowest and highest x of observations; default: the entire model");
  d("between_z", &Observed::between_z, "lowest and highest z of observations; default: the entire model");
  d("error", &Observed::error, "standard deviation of the observation error, in the unit of the fields").positive();
  d("relative_error", &Observed::relative_error,
    "observation error as a fraction of each field's climatological standard deviation")
      .positive();
  d("gaps", &Observed::gaps,
    "intervals [from, to] without observations, in the time of the truth: that of 'data', or 0 at its start")
      .def({});
  d.check([](const Observed& o) {
    return o.error.has_value() == o.relative_error.has_value() ? "give one of 'error' and 'relative_error'" : "";
  });
  d.check([](const Observed& o) {
    return o.stride[0] < 1 || o.stride[1] < 1 ? "'stride' must be at least 1 along both axes" : "";
  });
  d.check([](const Observed& o) {
    return !o.positions.empty() && o.operation == Operator::blocks
               ? "'positions' are points, and operator: blocks averages over cells: leave out one of them"
               : "";
  });
  d.check([](const Observed& o) -> std::string {
    for (const auto& [name, ends] : {std::pair{"between_x", o.between_x}, {"between_z", o.between_z}})
      if (ends && !((*ends)[0] <= (*ends)[1]))
        return fmt::format("'{}' must rise, and is [{:g}, {:g}]", name, (*ends)[0], (*ends)[1]);
    return {};
  });
  d.check([](const Observed& o) {
    for (const auto& gap : o.gaps)
      if (gap[0] > gap[1]) return "an interval of 'gaps' ends before it begins";
    return "";
  });
}

void Assimilate::Sampling::describe(deck::Describe<Sampling>& d) {
  d("samples", &Sampling::samples,
    "number of states of a long model run, for initial members and the climatological covariance")
      .at_least(2)
      .def(400);
  d("interval", &Sampling::interval, "time between two samples").positive().def(1.0);
  d("runs", &Sampling::runs,
    "number of runs from different initial states that give the samples, for models whose single run stays in a part "
    "of the attractor (rolls that stay in place)")
      .at_least(1)
      .def(1);
  d.check([](const Sampling& s) -> std::string {
    if (s.samples >= s.runs) return {};
    return fmt::format("'runs' ({}) must be at most 'samples' ({})", s.runs, s.samples);
  });
}

void Assimilate::Forecasts::describe(deck::Describe<Forecasts>& d) {
  d("after", &Forecasts::after, "number of analyses before the long forecast, which uses no further observations")
      .at_least(1);
  d("steps", &Forecasts::steps, "length of the long forecast, in intervals of 'observations.every'")
      .at_least(1)
      .def(30);
}

void Assimilate::Params::describe(deck::Describe<Params>& d) {
  d("model", &Params::model, "model of forecasts and of the truth");
  d("data", &Params::data,
    "HDF5 file of an earlier run as the truth, from which observations are sampled; default: a run of the model (twin "
    "experiment)");
  d("spin_up", &Params::spin_up, "time from the model's initial state to its attractor").non_negative().def(10.0);
  d("cycles", &Params::cycles, "number of analyses").at_least(1);
  d("burn_in", &Params::burn_in, "initial time of the truth that averages exclude").non_negative().def(0.0);
  d("observations", &Params::observations, "observed fields, positions and errors");
  d("climatology", &Params::climatology, "sample of the model's attractor");
  d("start", &Params::start,
    "initial members: observations (samples of the climatology, corrected with its covariance by the first "
    "observations), or climatology (those samples as they are)")
      .options({{"observations", Start::observations}, {"climatology", Start::climatology}})
      .def(Start::observations);
  d("filters", &Params::filters, "filters to compare: a name for the table, and keys")
      .example("{letkf: {type: letkf, members: 24, localisation: 4}}");
  d("forecasts", &Params::forecasts,
    "forecasts of each filter as fields by (t, x, z), means over its members: FILTER.one_step.h5 has at each analysis "
    "time the forecast from the analysis before, FILTER.rollout.h5 one long forecast; default: no such files");
  d.check([](const Params& p) -> std::string {
    if (!p.forecasts || p.forecasts->after <= p.cycles) return {};
    return fmt::format("'forecasts.after' ({}) must be at most 'cycles' ({})", p.forecasts->after, p.cycles);
  });
  d.check([](const Params& p) -> std::string {
    std::map<std::string, std::string> files;
    for (const auto& [name, keys] : p.filters)
      if (const auto [at, fresh] = files.emplace(io::plain_name(name), name); p.forecasts && !fresh)
        return fmt::format("files of the filters '{}' and '{}' have the same name, '{}': rename one of the filters",
                           at->second, name, at->first);
    return {};
  });
  d.check([](const Params& p) {
    return p.filters.empty() ? "'filters' names no filter: give one, such as {etkf: {type: etkf, inflation: 1.02}}"
                             : "";
  });
  d.check([](const Params& p) -> std::string {
    if (p.burn_in < (static_cast<double>(p.cycles) - rounding) * p.observations.every) return {};
    return fmt::format("'burn_in' ({:g}) leaves nothing of {} cycles of {:g}", p.burn_in, p.cycles,
                       p.observations.every);
  });
}

std::unique_ptr<ForecastModel> Assimilate::make_model(Context& context) const {
  return context.registry->make<ForecastModel>(params_.model, context);
}

void Assimilate::examine(Check& check) {
  for (const auto& file : files()) check.will_write({file, {Origin::stage, "assimilate"}});
  if (!check.stage().tried) return;
  Context& context = check.context();
  const auto planned = make_model(context);
  if (params_.data && std::filesystem::exists(*params_.data)) planned->take_from(*params_.data);
  context.log.info(fmt::format("assimilate: {}; {} analyses every {:g}, by {} filters", planned->summary(),
                               params_.cycles, params_.observations.every, params_.filters.size()));
  if (params_.data)
    check.require_written_by(
        "data", *params_.data,
        {{Origin::output, "fields"}, {Origin::fields_of, "reconstruct"}, {Origin::stage, "write_well"}});
  const auto model = make_model(check.context());
  const auto& space = model->space();
  auto keys = static_cast<const NetworkKeys&>(params_.observations);
  if (!keys.error) keys.relative_error = 1.0;
  make_network(keys, space, std::vector<double>(space.fields.size(), 1.0));
  double states = static_cast<double>(params_.climatology.samples) + 4.0, runs = 1.0;
  for (const auto& [name, filter] : params_.filters) {
    const double members = filter.ensemble() ? static_cast<double>(filter.members) : 1.0;
    states += 3.0 * members / check.context().comm.size() + 3.0;
    runs += members / check.context().comm.size();
  }
  check.memory(fmt::format("{:.0f} states of {} values", states, space.elements()),
               states * sizeof(double) * static_cast<double>(space.elements()));
  if (params_.forecasts)
    check.memory("forecasts of every cycle", static_cast<double>(params_.cycles) *
                                                 static_cast<double>(params_.filters.size()) * sizeof(float) *
                                                 static_cast<double>(space.elements()));
  const double time = static_cast<double>(params_.cycles + (params_.forecasts ? params_.forecasts->steps : 0)) *
                      params_.observations.every;
  check.duration(
      model->seconds_per_time() * (runs * time + 2.0 * params_.spin_up +
                                   static_cast<double>(params_.climatology.samples) * params_.climatology.interval),
      "the model's rate, without analyses");
}

Climatology Assimilate::sample(ForecastModel& model, Context& context) const {
  const auto timer = context.timing.scope("climatology");
  const auto& keys = params_.climatology;
  const auto n = model.space().elements();
  std::vector<double> states(static_cast<std::size_t>(keys.samples) * n, 0.0);
  for (std::int64_t run = context.comm.rank(); run < keys.runs; run += context.comm.size()) {
    auto state = model.first_state(context.seed, static_cast<std::uint64_t>(run) + 1);
    double time = params_.spin_up;
    model.advance(state, 0.0, time);
    for (auto s = keys.samples * run / keys.runs; s < keys.samples * (run + 1) / keys.runs; ++s) {
      model.advance(state, time, time + keys.interval);
      time += keys.interval;
      std::copy(state.begin(), state.end(), states.begin() + s * static_cast<std::ptrdiff_t>(n));
      if (s % 10 == 0) context.log.progress(fmt::format("climatology: sample {} of {}", s + 1, keys.samples));
    }
  }
  context.comm.sum(states);  // each element is nonzero on one rank only
  return Climatology::of(std::move(states), n);
}

std::unique_ptr<Truth> Assimilate::make_truth(Context& context) const {
  if (params_.data) return std::make_unique<FileTruth>(*model_, *params_.data);
  auto state = model_->first_state(context.seed, 0);
  model_->advance(state, -params_.spin_up, 0.0);
  return std::make_unique<ModelTruth>(*model_, std::move(state));
}

bool Assimilate::in_gap(double time) const {
  const double slack = rounding * params_.observations.every;
  for (const auto& gap : params_.observations.gaps)
    if (time >= gap[0] - slack && time <= gap[1] + slack) return true;
  return false;
}

std::vector<double> Assimilate::observe(const Network& network, std::span<const double> truth, std::int64_t cycle,
                                        std::uint64_t seed) const {
  std::vector<double> out(network.size());
  network.apply(truth, out);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] += network.list[i].deviation *
              Random4(seed, stream("assimilate.observations"), i, static_cast<std::uint64_t>(cycle)).normal(0);
  return out;
}

Task::Outcome Assimilate::run(Context& context) {
  model_ = make_model(context);
  if (params_.data) model_->take_from(*params_.data);
  climatology_ = sample(*model_, context);
  const auto& space = model_->space();
  const auto scales = climatology_->scales(space.fields.size());
  network_ = make_network(params_.observations, space, scales);
  of_truth_ = make_network(params_.observations, centred(space), scales);
  std::vector<double> variance(space.elements(), 0.0);
  for (std::size_t n = 0; n < climatology_->anomalies.size(); ++n)
    variance[n % space.elements()] +=
        std::pow(climatology_->anomalies[n], 2) / static_cast<double>(climatology_->samples - 1);
  climate_rmse_ = spread(space, variance);
  const auto truth = make_truth(context);
  const double scored_after = truth->begin() + params_.burn_in + rounding * params_.observations.every;
  setting_.emplace(Setting{*model_, *climatology_, *network_, centred(space), scored_after, params_.start, context,
                           params_.forecasts.has_value()});
  for (const auto& [name, keys] : params_.filters)
    filters_.push_back(std::make_unique<FilterRun>(name, keys, *setting_));
  context.log.info(
      fmt::format("{}; {} observations every {:g}", model_->summary(), network_->size(), params_.observations.every));
  return loop(*truth, context);
}

Task::Outcome Assimilate::loop(Truth& truth, Context& context) {
  Instant now;
  now.to = truth.begin();
  Outcome outcome = Outcome::done;
  for (std::int64_t cycle = 1; cycle <= params_.cycles && outcome == Outcome::done; ++cycle) {
    now.cycle = cycle;
    now.from = now.to;
    now.to = truth.begin() + static_cast<double>(cycle) * params_.observations.every;
    now.truth = truth.at(now.to);
    now.observed.clear();
    if (!in_gap(now.to)) now.observed = observe(of_truth_, now.truth, cycle, context.seed);
    for (auto& filter : filters_) filter->step(now);
    done_ = cycle;
    if (params_.forecasts && cycle == params_.forecasts->after) roll_out(now.to, context);
    if (cycle % (1 + params_.cycles / 200) == 0)
      context.log.progress(fmt::format("analysis {} of {}", cycle, params_.cycles));
    if (context.stop && cycle < params_.cycles && context.stop->agreed(cycle)) outcome = Outcome::stopped_early;
  }
  io::on_root(context.comm, [&] {
    const std::filesystem::path folder(context.run_directory);
    write((folder / "assimilation.h5").string(), now, context);
    if (!params_.forecasts) return;
    for (const auto& filter : filters_)
      write_frames((folder / forecast_file(filter->name(), "one_step")).string(), setting_->centred,
                   filter->series().time, filter->forecasts(), context);
  });
  return outcome;
}

void Assimilate::roll_out(double time, Context& context) const {
  const double every = params_.observations.every;
  std::vector<double> times;
  for (std::int64_t step = 1; step <= params_.forecasts->steps; ++step)
    times.push_back(time + static_cast<double>(step) * every);
  for (const auto& filter : filters_) {
    const auto frames = filter->forecast(time, every, params_.forecasts->steps);
    io::on_root(context.comm, [&] {
      write_frames((std::filesystem::path(context.run_directory) / forecast_file(filter->name(), "rollout")).string(),
                   setting_->centred, times, frames, context);
    });
  }
}

std::string Assimilate::forecast_file(const std::string& filter, const char* what) const {
  return fmt::format("{}.{}.h5", io::plain_name(filter), what);
}

std::vector<std::string> Assimilate::files() const {
  std::vector<std::string> out{"assimilation.h5"};
  if (params_.forecasts)
    for (const auto& [name, keys] : params_.filters)
      for (const char* what : {"one_step", "rollout"}) out.push_back(forecast_file(name, what));
  return out;
}

void Assimilate::write(const std::string& path, const Instant& last, Context& context) const {
  write_report(path, *setting_, last, filters_, context);
}

Task::Work Assimilate::work() const { return {done_, "cycle"}; }

std::vector<Result> Assimilate::results() const {
  std::vector<Result> out{{.key = "climatological_deviation",
                           .label = "deviation of the climatology from its mean",
                           .value = climate_rmse_,
                           .digits = 4}};
  for (const auto& filter : filters_) append(out, results_of(*filter, *setting_));
  return out;
}

std::vector<std::string> Assimilate::lines() const { return table_of(filters_, *setting_, climate_rmse_); }

std::vector<Citation> Assimilate::citations() const {
  auto out = model_->citations();
  for (const auto& [name, keys] : params_.filters)
    if (keys.ensemble()) {
      out.push_back(
          {"hunt2007",
           R"(@article{hunt2007, author={Hunt, B. R. and Kostelich, E. J. and Szunyogh, I.}, title={Efficient data assimilation for spatiotemporal chaos: a local ensemble transform Kalman filter}, journal={Physica D}, volume={230}, pages={112--126}, year={2007}})"});
      if (keys.localisation > 0.0)
        out.push_back(
            {"gaspari1999",
             R"(@article{gaspari1999, author={Gaspari, G. and Cohn, S. E.}, title={Construction of correlation functions in two and three dimensions}, journal={Q. J. R. Meteorol. Soc.}, volume={125}, pages={723--757}, year={1999}})"});
    }
  return out;
}

}  // namespace cambium::assimilate
