#include "core/train/tune/tune.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/deck/about_key.hpp"
#include "core/deck/resolve.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/run/trainer.hpp"
#include "core/train/tune/citations.hpp"

namespace cambium::tune {

namespace {

/// Value of a key, whether given or, in a resolved deck, a default.
double number_at(const deck::Node& value, double otherwise) {
  return value.is_scalar() ? parse_number(value.text()).value_or(otherwise) : otherwise;
}

std::string problem_of(const TuneTask::Params& p) {
  if (p.train.decisions.empty())
    return "nothing is left to choose: write !choice [a, b] instead of a value inside 'train', or use the stage "
           "'train'";
  for (const auto& d : p.train.decisions)
    if (d.list.size() < 2)
      return fmt::format("{}: !choice has one alternative; write the value itself, or add others", d.list.path());
  for (const auto& picks : deck::covering_picks(p.train.decisions)) {
    const deck::Node keys = p.train.at(picks);
    const deck::Node validation = keys["validation"];
    if ((!validation.defined() || validation.is_null()) && number_at(keys["hold_out"], 0.0) == 0.0)
      return "train: without validation there is nothing to choose by; give validation (a data set) or hold_out (a "
             "fraction of the training set)";
    if (p.halving && number_at(keys["ensemble_size"], 1.0) > 1.0)
      return "halving ends one training early, but train.ensemble_size requests several; remove one of them";
  }
  return {};
}

}  // namespace

void TuneTask::Params::describe(deck::Describe<Params>& d) {
  d("train", &Params::train, "a stage train; values written !choice [a, b] are chosen by the search");
  describe_search(d, Params());
  d("keep", &Params::keep, "number of best trials whose folders are retained").at_least(1).def(3);
  d.check(problem_of);
}

/// Genomes that lead to the same deck are the same trial: decisions inside an alternative that was not chosen do not
/// count.
SearchSpace TuneTask::Params::space() const {
  SearchSpace out;
  for (const auto& d : train.decisions) out.choices.push_back(static_cast<int>(d.list.size()));
  out.canonical = [marked = train](const Genome& g) { return deck::to_line(marked.at(g)); };
  return out;
}

std::string TuneTask::key(const Context& context) const {
  const auto keys = deck::resolve(params_.train.node, deck::schema_of<train::Train::Params>(), *context.registry);
  return deck::to_line(keys) +
         fmt::format(" strategy {} population {} sample {} rungs {} ranks {} seed {}",
                     static_cast<int>(params_.strategy), params_.population, params_.sample,
                     params_.halving ? params_.halving->rungs : 0, params_.ranks_per_trial, context.seed) +
         params_.policy_text();
}

void TuneTask::report_plan(const train::Train::Params& first, Context& context) const {
  double size = 1.0;
  for (const auto& d : params_.train.decisions) {
    size *= static_cast<double>(d.list.size());
    context.log.info(fmt::format("chosen: {} from {}", d.list.path(), deck::to_line(d.list)));
  }
  context.log.info(
      fmt::format("tune: {} trials in a space of {:g}; the first alternatives would be:", params_.trials, size));
  deck::about_key("", "train", [&] { train::Trainer(first, context).report_plan(); });
}

void TuneTask::examine(Check& check) {
  const deck::Node first = params_.train.at(std::vector<int>(params_.train.decisions.size(), 0));
  const auto keys = deck::read<train::Train::Params>(first, check.context().registry);
  if (check.stage().tried) report_plan(keys, check.context());
  deck::about_key("", "train", [&] { train::examine_training(keys, first, check); });
  check.stage().promises.clear();  // those of a single training
  check.stage().seconds.reset();
  for (const char* name : {"trials.csv", "journal.h5", "best.yaml", "best/"}) check.will_write({name});
}

Task::Outcome TuneTask::run(Context& context) {
  io::on_root(context.comm, [&] {
    if (!context.resume) std::filesystem::remove_all(std::filesystem::path(context.run_directory) / "trials");
  });
  std::optional<Journal> journal;
  SearchReport report;
  const auto end = run_search(
      params_, params_.space(), key(context), [&](Comm& group) { return TrainEvaluator(params_, context, group); },
      context, journal, report);
  work_ = {report.evaluated, "trial"};
  results_ = report.results();
  if (end == SearchEnd::replayed) return Outcome::done;
  files_ = {"journal.h5"};
  if (end == SearchEnd::stopped) return Outcome::stopped_early;
  io::on_root(context.comm, [&] { write_tune_results(params_, journal->trials(), report, context); });
  files_ = {"trials.csv", "journal.h5", "best.yaml (a deck that trains it again)", "best/"};
  return Outcome::done;
}

/// Publications of the search strategy; those of the best model are in best/cite.bib.
std::vector<Citation> TuneTask::citations() const { return search_citations(params_.strategy); }

}  // namespace cambium::tune
