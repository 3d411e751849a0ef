#include "plugins/podlstm/tune/tune_task.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/error.hpp"
#include "core/deck/resolve.hpp"
#include "core/io/agree.hpp"
#include "core/parallel/stop_request.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/trainer/trainer.hpp"
#include "plugins/podlstm/search/groups.hpp"

namespace cambium::podlstm {

namespace {

std::string problem_of(const TuneTask::Params& p) {
  if (p.train.decisions.empty())
    return "nothing is left to choose: write !choice [a, b] in place of a value inside 'train', or use the stage 'train'";
  for (const auto& d : p.train.decisions)
    if (d.list.size() < 2) return fmt::format("{}: !choice has one alternative; write the value itself, or add others", d.list.path());
  const deck::Node first = p.train.at(std::vector<int>(p.train.decisions.size(), 0));
  if (!first.has("validation") && !first.has("hold_out"))
    return "train: without validation there is nothing to choose by; give validation (a data set) or hold_out (a share of the training set)";
  if (p.halving && p.train.node.has("models")) return "halving ends one training early, but train.models asks for several; remove one of them";
  return {};
}

}  // namespace

void TuneTask::Params::describe(deck::Describe<Params>& d) {
  d("train", &Params::train, "a stage train; values written !choice [a, b] are left to the search");
  d("strategy", &Params::strategy, "aging evolution, random search, or the tree-structured Parzen estimator")
      .options({{"evolution", Strategy::evolution}, {"random", Strategy::random}, {"tpe", Strategy::tpe}}).def(Strategy::evolution);
  d("trials", &Params::trials, "trials to finish").at_least(1).def(50);
  d("population", &Params::population, "of aging evolution").at_least(2).def(20);
  d("sample", &Params::sample, "of the population, from which a parent is taken").at_least(1).def(5);
  d("halving", &Params::halving, "successive halving: end hopeless trials early, at the first validation after 1/2, 1/4, ... of the steps");
  d("time_limit", &Params::time_limit, "a trial that takes longer fails, at its next validation (s); 0 for none").non_negative().def(0.0);
  d("hang_limit", &Params::hang_limit, "a rank that gives no sign of life for so long is taken for hung and its trial given to another (s); longer than "
                                       "reading the data, a step and a validation; 0 for never").non_negative().def(0.0);
  d("retries", &Params::retries, "times that a failed trial is trained again, from other weights").at_least(0).def(0);
  d("ranks_per_trial", &Params::ranks_per_trial, "ranks that train a network together").at_least(1).def(1);
  d("root_evaluates", &Params::root_evaluates, "rank 0 trains between serving the others").def(true);
  d("keep", &Params::keep, "best trials whose folders stay").at_least(1).def(3);
  d("log", &Params::log, "finished trials between two lines of the table").at_least(1).def(5);
  d.check(problem_of);
}

SearchOptions TuneTask::Params::search(std::uint64_t seed) const {
  SearchOptions o;
  o.strategy.strategy = strategy, o.strategy.population = population, o.strategy.sample = sample, o.strategy.seed = seed;
  o.trials = trials, o.retries = retries, o.root_evaluates = root_evaluates, o.log_every = log;
  o.hang_limit = hang_limit, o.ranks_per_trial = ranks_per_trial;
  if (halving) o.rungs = halving->rungs, o.keep = halving->keep;
  return o;
}

/// Genomes that pick the same deck are the same trial: decisions inside an alternative that is not picked do not count.
SearchSpace TuneTask::Params::space() const {
  SearchSpace out;
  for (const auto& d : train.decisions) out.choices.push_back(static_cast<int>(d.list.size()));
  out.canonical = [marked = train](const Genome& g) { return deck::to_line(marked.at(g)); };
  return out;
}

std::string TuneTask::key(const Context& context) const {
  const auto keys = deck::resolve(params_.train.node, deck::schema_of<train::Train::Params>(), *context.registry);
  return deck::to_line(keys) + fmt::format(" strategy {} population {} sample {} rungs {} ranks {} seed {}", static_cast<int>(params_.strategy),
                                           params_.population, params_.sample, params_.halving ? params_.halving->rungs : 0,
                                           params_.ranks_per_trial, context.seed);
}

void TuneTask::check(Context& context) {
  double size = 1.0;
  for (const auto& d : params_.train.decisions) {
    size *= static_cast<double>(d.list.size());
    context.log.info(fmt::format("chosen: {} from {}", d.list.path(), deck::to_line(d.list)));
  }
  context.log.info(fmt::format("tune: {} trials in a space of {:g}; the first alternatives would be:", params_.trials, size));
  const auto first = params_.train.at(std::vector<int>(params_.train.decisions.size(), 0));
  const auto keys = deck::read<train::Train::Params>(first, context.registry);
  train::Trainer(keys, context).report_plan();
}

Task::Outcome TuneTask::run(Context& context) {
  Groups groups(params_.ranks_per_trial, context);
  const TrainEvaluator evaluate(params_, context, groups.own());
  std::optional<Journal> journal;
  io::on_root(context.comm, [&] {
    namespace fs = std::filesystem;
    journal.emplace((fs::path(context.run_directory) / "journal.h5").string(), key(context), context);
    if (context.resume && journal->load()) context.log.info(fmt::format("resumed: {} trials are finished", journal->trials().size()));
    else fs::remove_all(fs::path(context.run_directory) / "trials");
  });
  SearchReport report;
  const bool complete = groups.search(params_.space(), params_.search(context.seed), journal ? &*journal : nullptr, std::cref(evaluate), context, report);
  if (!complete) {
    for (std::int64_t step = 1; context.stop && !context.stop->agreed(step << 40);) ++step;
    return Outcome::stopped_early;
  }
  io::on_root(context.comm, [&] { write_tune_results(params_, journal->trials(), report, context); });
  return Outcome::done;
}

}  // namespace cambium::podlstm
