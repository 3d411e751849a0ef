#include <fmt/format.h>

#include <filesystem>

#include "core/base/key_error.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/stop_request.hpp"
#include "core/train/tune/search_keys.hpp"

namespace cambium::tune {

void Halving::describe(deck::Describe<Halving>& d) {
  d("rungs", &Halving::rungs, "number of rungs of successive halving: trials may end after 1/2, 1/4, ... of the epochs")
      .range(1, 8)
      .def(2);
  d("keep", &Halving::keep, "fraction of the trials promoted at each rung (successive halving)")
      .greater_than(0.0)
      .less_than(1.0)
      .def(0.5);
}

SearchOptions SearchKeys::options(std::uint64_t seed) const {
  SearchOptions o;
  o.strategy.strategy = strategy;
  o.strategy.population = population;
  o.strategy.sample = sample;
  if (policy) o.strategy.policy = *policy;
  o.strategy.seed = seed;
  o.trials = trials;
  o.retries = retries;
  o.root_evaluates = root_evaluates;
  o.log_every = log;
  o.hang_limit = hang_limit;
  if (halving) {
    o.rungs = halving->rungs;
    o.keep = halving->keep;
  }
  return o;
}

std::string SearchKeys::policy_text() const {
  if (!policy) return {};
  return fmt::format(" policy {} {} {} {} {}", policy->batch, policy->epochs, policy->rate, policy->clip,
                     policy->entropy);
}

/// Proposes and evaluates every trial of a journal again from the trials known at that time; returns how many differ in
/// genome, reward or epoch. Collective: trials are distributed over ranks.
static std::int64_t repeat(const std::string& path, const SearchSpace& space, const SearchOptions& options,
                           const Evaluate& evaluate, Context& context) {
  const auto trials = read_trials(path);
  std::int64_t differ = 0;
  for (std::size_t k = 0; k < trials.size(); ++k) {
    if (static_cast<int>(k) % context.comm.size() != context.comm.rank()) continue;
    const Trial& t = trials[k];
    const std::vector<Trial> known(trials.begin(), trials.begin() + t.known);
    bool same = propose(space, options.strategy, t.number, known) == t.genome;
    if (same && t.copy_of < 0 && !t.failed) {
      const Outcome o = evaluate({t.number, t.attempts, t.genome, thresholds_of(known, options)}, [] {});
      same = o.reward == t.reward && o.best_epoch == t.best_epoch && o.epochs == t.epochs;
    }
    differ += same ? 0 : 1;
  }
  return context.comm.sum(differ);
}

SearchEnd run_search(const SearchKeys& keys, const SearchSpace& space, const std::string& key,
                     const std::function<Evaluate(Comm& group)>& evaluator, Context& context,
                     std::optional<Journal>& journal, SearchReport& report) {
  const auto options = keys.options(context.seed);
  if (!keys.replay.empty()) {
    Comm alone(MPI_COMM_SELF);
    const auto differ = repeat(keys.replay, space, options, evaluator(alone), context);
    context.log.info(fmt::format("replay of {}: {} trials differ", keys.replay, differ));
    if (differ > 0)
      throw NumericalError(fmt::format(
          "{} trials of '{}' came out otherwise than recorded; was it made with another deck, program or machine?",
          differ, keys.replay));
    return SearchEnd::replayed;
  }
  if (context.comm.size() % keys.ranks_per_trial != 0)
    throw KeyError(
        "tune.ranks_per_trial", "ranks_per_trial",
        fmt::format("ranks_per_trial: {} does not divide the {} rank{} of this run; use a divisor, or other ranks",
                    keys.ranks_per_trial, context.comm.size(), context.comm.size() == 1 ? "" : "s"));
  tasks::WorkGroups groups(context.comm, keys.ranks_per_trial);
  io::on_root(context.comm, [&] {
    journal.emplace((std::filesystem::path(context.run_directory) / "journal.h5").string(), key, context);
    if (context.resume && journal->load())
      context.log.info(fmt::format("resumed: {} trials are finished", journal->trials().size()));
  });
  Search search(space, options, journal ? &*journal : nullptr, evaluator(groups.own()), context);
  const bool complete = search.run(groups);
  report = search.report();
  if (complete) return SearchEnd::complete;
  for (std::int64_t step = 1; context.stop && !context.stop->agreed(step << 40);) ++step;
  return SearchEnd::stopped;
}

}  // namespace cambium::tune
