#include "plugins/podlstm/tasks/search.hpp"

#include <fmt/format.h>

#include "core/base/key_error.hpp"
#include "core/plugin/check.hpp"
#include "core/train/tune/citations.hpp"
#include "plugins/podlstm/networks/citations.hpp"
#include "plugins/podlstm/tasks/forecast.hpp"

namespace cambium::podlstm {

void SearchTask::Network::describe(deck::Describe<Network>& d) {
  d("cell", &Network::cell, "kind of the recurrent layers")
      .options({{"lstm", Cell::lstm}, {"gru", Cell::gru}})
      .def(Cell::lstm);
  d("head", &Network::head,
    "last layer: dense over all times, or recurrent as in the paper, where lead h depends on the first h times only")
      .options({{"recurrent", Head::recurrent}, {"dense", Head::dense}})
      .def(Head::dense);
  d("inputs", &Network::inputs,
    "network inputs: min-max scaled coefficients (raw, as in the paper), deviations from the harmonics of the year, or "
    "residual: these deviations, with the residual of harmonics + ridge as the target")
      .options({{"raw", Inputs::raw}, {"anomalies", Inputs::anomalies}, {"residual", Inputs::residual}})
      .def(Inputs::anomalies);
  d("calendar", &Network::calendar, "harmonics of the year added to the features of each time").at_least(0).def(0);
  d("harmonics", &Network::harmonics, "harmonics taken off for anomalies").at_least(1).def(2);
  d("epochs", &Network::epochs, "maximum number of epochs of a trial").at_least(1).def(60);
  d("patience", &Network::patience, "epochs without a better validation after which a trial ends").at_least(1).def(15);
  d("batch", &Network::batch, "windows of a batch").at_least(1).def(64);
  d("rate", &Network::rate, "learning rate of AdamW").positive().def(1e-3);
  d("weight_decay", &Network::weight_decay, "decoupled weight decay").non_negative().def(0.0);
  d("linear_ridge", &Network::linear_ridge,
    "inputs: residual: penalties of the harmonics + ridge whose residual networks learn; the best by validation is "
    "taken")
      .positive()
      .def({0.03, 0.1, 0.3, 1.0, 3.0});
  d("linear_harmonics", &Network::linear_harmonics, "number of harmonics of the linear model, for inputs: residual")
      .at_least(1)
      .def({2, 3, 4});
}

void SearchTask::Ensemble::describe(deck::Describe<Ensemble>& d) {
  d("members", &Ensemble::members, "different networks in the ensemble, the best by validation").at_least(1).def(5);
  d("seeds", &Ensemble::seeds, "times each is trained").at_least(1).def(5);
  d("plain_epochs", &Ensemble::plain_epochs,
    "maximum number of epochs of the head without recurrent layers, for comparison")
      .at_least(1)
      .def(300);
}

void SearchTask::Params::describe(deck::Describe<Params>& d) {
  d("data", &Params::data, "series, windows, validation and baselines");
  d("network", &Params::network, "network settings shared by all trials");
  describe_search(d, SearchKeys());
  d("seeds_per_trial", &Params::seeds_per_trial,
    "networks that a trial trains from different weights; their mean forecast is rewarded")
      .range(1, 100)
      .def(1);
  d("ensemble", &Params::ensemble, "ensemble of the best networks");
}

MemberOptions SearchTask::Params::member(const Genome& genome) const {
  MemberOptions o;
  o.network = {genome, network.cell, network.head};
  o.inputs = network.inputs;
  o.calendar = network.calendar;
  o.harmonics = network.harmonics;
  o.period = linear.period;
  o.epochs = network.epochs;
  o.batch = network.batch;
  o.rate = network.rate;
  o.weight_decay = network.weight_decay;
  o.linear = linear;
  return o;
}

void SearchTask::require_lengths() const {
  if (params_.network.head == Head::recurrent && params_.data.window != params_.data.horizon)
    throw KeyError(
        "search.network.head", "network.head",
        "network.head: a recurrent head gives as many times as it reads, but window and horizon differ; use head: "
        "dense");
}

void SearchTask::examine(Check& check) {
  check.will_write({"ensemble.h5", {Origin::ensemble_of, "search"}});
  for (const char* name : {"journal.h5", "scores.csv", "forecast.h5"})
    check.will_write({name, {Origin::stage, "search"}});
  if (!check.stage().tried) return;
  check.context().log.info(fmt::format("search: {} trials of {} genomes, {} epochs at most, on '{}'", params_.trials,
                                       GenomeSpace().size(), params_.network.epochs, params_.data.series.file));
  require_lengths();
  look_at_series(params_.data, check);
}

void SearchTask::report(const SearchReport& r, const Journal& journal, Context& context) const {
  context.log.info(
      fmt::format("search: {} trials ({} evaluated here, {} copies of equal networks, {} ended early, {} failed) in "
                  "{:.1f} s on {} evaluators: {:.0f} evaluations per hour, {:.1f} % busy",
                  journal.trials().size(), r.evaluated, r.copied, r.stopped, r.failed, r.seconds, r.evaluators,
                  r.per_hour(), 100.0 * r.utilisation()));
}

void choose_linear(SearchTask::Params& p, const Series& series, Context& context) {
  p.linear = p.data.baselines(series);
  if (p.network.inputs != Inputs::residual) return;
  const WindowShape shape = p.data.shape();
  const auto splits =
      p.data.split(context.seed).splits(window_count(series.train, shape, "training"), shape, p.data.protocol);
  const Matrix truth = targets(series.train.a, validation_windows(splits), shape);
  BaselineOptions o = p.linear;
  double best = -1e300;
  for (int harmonics : p.network.linear_harmonics)
    for (double ridge : p.network.linear_ridge) {
      o.harmonics = harmonics;
      o.anomaly_ridge = ridge;
      const double r2 =
          score(truth, forecast_left_out(*harmonic_ridge(o), series.train, splits, shape), series.modes()).r2;
      if (r2 > best) {
        best = r2;
        p.linear = o;
      }
    }
  context.log.info(fmt::format(
      "networks learn the residual of {} harmonics + ridge with penalty {:g}, chosen by validation, R2 {:.4f}",
      p.linear.harmonics, p.linear.anomaly_ridge, best));
}

Task::Outcome SearchTask::run(Context& context) {
  const Series series = read_series(params_.data.series, context.comm);
  for (const auto& words : {uneven_times(series), coarse_times(series, params_.data.period_days(series))})
    if (!words.empty()) context.log.warn(words);
  window_count(series.test, params_.data.shape(), "test");
  require_lengths();
  choose_linear(params_, series, context);
  const auto space = paper_space(static_cast<int>(series.modes()) + 2 * params_.network.calendar);
  const std::string key =
      deck::to_yaml(deck::map_of(params_.data)) + deck::to_yaml(deck::map_of(params_.network)) +
      fmt::format("strategy {} population {} sample {} rungs {} seeds {} seed {}", static_cast<int>(params_.strategy),
                  params_.population, params_.sample, params_.options(0).rungs, params_.seeds_per_trial, context.seed) +
      params_.policy_text();
  std::optional<Journal> journal;
  SearchReport numbers;
  const auto end = run_search(
      params_, space, key, [&](Comm& group) { return WindowEvaluator(params_, series, context, group); }, context,
      journal, numbers);
  Journal* mine = journal ? &*journal : nullptr;
  if (mine) report(numbers, *mine, context);
  results_ = numbers.results();
  work_ = {numbers.evaluated, "trial"};
  if (end == SearchEnd::replayed) return Outcome::done;
  files_ = {"journal.h5"};
  if (end == SearchEnd::stopped) return Outcome::stopped_early;
  report_table(final_table(params_, series, mine, results_, context), series, params_.data.shape(), context);
  files_.insert(files_.end(), {"ensemble.h5", "scores.csv", "forecast.h5"});
  return Outcome::done;
}

std::vector<Citation> SearchTask::citations() const {
  std::vector<Citation> out = network_citations(params_.network.cell == Cell::gru);
  for (const auto& citation : tune::search_citations(params_.strategy)) out.push_back(citation);
  return out;
}

}  // namespace cambium::podlstm
