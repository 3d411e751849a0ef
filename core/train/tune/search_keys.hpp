#pragma once
#include <concepts>
#include <functional>
#include <optional>
#include <string>

#include "core/deck/describe.hpp"
#include "core/train/tune/search.hpp"

namespace cambium::tune {

struct Halving {
  int rungs = 2;
  double keep = 0.5;
  static void describe(deck::Describe<Halving>& d);
};

/// Keys common to the stages `search` and `tune`.
struct SearchKeys {
  Strategy strategy = Strategy::evolution;
  std::int64_t trials = 100, population = 100, sample = 10, log = 10;
  std::optional<Halving> halving;
  std::optional<PolicyOptions> policy;
  double time_limit = 0.0, hang_limit = 0.0;
  int retries = 1, ranks_per_trial = 1;
  bool root_evaluates = true;
  std::string replay;
  SearchOptions options(std::uint64_t seed) const;
  /// The policy's keys as stored in a journal; empty without them.
  std::string policy_text() const;
};

/// Describes these keys for a stage's parameters, with the defaults of that stage.
template <std::derived_from<SearchKeys> P>
void describe_search(deck::Describe<P>& d, const SearchKeys& defaults) {
  d("strategy", &SearchKeys::strategy,
    "aging evolution, random search, the tree-structured Parzen estimator, or proximal policy optimisation (ppo)")
      .options({{"evolution", Strategy::evolution},
                {"random", Strategy::random},
                {"tpe", Strategy::tpe},
                {"ppo", Strategy::ppo}})
      .def(defaults.strategy);
  d("trials", &SearchKeys::trials, "trials to finish").at_least(1).def(defaults.trials);
  d("population", &SearchKeys::population, "population size of aging evolution").at_least(2).def(defaults.population);
  d("sample", &SearchKeys::sample, "tournament size: members of the population from which a parent is selected")
      .at_least(1)
      .def(defaults.sample);
  d("halving", &SearchKeys::halving,
    "successive halving: end unpromising trials early, at the first validation after 1/2, 1/4, ... of the steps");
  d("policy", &SearchKeys::policy, "keys of proximal policy optimisation (strategy: ppo); default: their defaults");
  d("time_limit", &SearchKeys::time_limit,
    "time limit of a trial (s), checked at each validation; a trial above it fails; 0 for none")
      .non_negative()
      .def(0.0);
  d("heartbeat_timeout", &SearchKeys::hang_limit,
    "heartbeat timeout (s): a rank silent for this long is considered hung; its trial is reassigned, and without rank "
    "0 the run ends. It must exceed the time for reading the data, an epoch (or a step) and a validation; 0 for none")
      .formerly("hang_limit")
      .non_negative()
      .def(0.0);
  d("retries", &SearchKeys::retries, "number of repeats of a failed trial, from other initial weights")
      .at_least(0)
      .def(defaults.retries);
  d("ranks_per_trial", &SearchKeys::ranks_per_trial, "ranks that evaluate a trial together").at_least(1).def(1);
  d("root_evaluates", &SearchKeys::root_evaluates,
    "true if rank 0 also evaluates trials between serving the other ranks")
      .def(true);
  d("log_every", &SearchKeys::log, "finished trials between two lines of the table")
      .formerly("log")
      .at_least(1)
      .def(defaults.log);
  d("replay", &SearchKeys::replay,
    "journal of a previous search to repeat trial by trial; results must be bitwise identical")
      .def("");
  d.check([](const P& p) {
    return p.policy && p.strategy != Strategy::ppo
               ? "'policy' is for strategy: ppo, and another one is chosen: write strategy: ppo, or leave it out"
               : "";
  });
}

enum class SearchEnd { complete, stopped, replayed };

/// Collective: searches with the journal of the run directory (created on rank 0), or repeats that of `keys.replay`.
/// `evaluator` creates the evaluation function for the ranks of a group; a replay assigns trials to single ranks. `key`
/// identifies what must not change when the search resumes. NumericalError if a replay differs.
SearchEnd run_search(const SearchKeys& keys, const SearchSpace& space, const std::string& key,
                     const std::function<Evaluate(Comm& group)>& evaluator, Context& context,
                     std::optional<Journal>& journal, SearchReport& report);

}  // namespace cambium::tune
