#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"

namespace cambium::tune {

/// A point of a search space: the choice of each of its decisions.
using Genome = std::vector<int>;

/// "3 0 1 ...".
std::string genome_text(const Genome& genome);

/// One proposed point of a search space, and its outcome. Its number addresses all its random numbers.
struct Trial {
  std::int64_t number = 0;
  std::int64_t known = 0;  ///< number of finished trials that the proposal used, in order
  Genome genome;
  double reward = 0.0;          ///< higher is better
  std::int32_t best_epoch = 0;  ///< where the reward was reached
  std::int32_t epochs = 0;      ///< trained
  std::int32_t attempts = 1;
  std::int32_t worker = 0;
  std::int64_t copy_of = -1;  ///< index of the trial of the same network, evaluated instead
  bool failed = false;
  std::vector<double> rungs;            ///< reward so far at each rung of successive halving; NaN if not reached
  double started = 0.0, seconds = 0.0;  ///< since the start of the search, including time before a restart; duration
};

/// Reward of a trial that failed permanently.
constexpr double failed_reward = -1e3;

/// A space of independent choices, and the network described by a point.
struct SearchSpace {
  std::vector<int> choices;                             ///< of every decision
  std::function<std::string(const Genome&)> canonical;  ///< equal for equal networks
};

enum class Strategy { evolution, random, tpe, ppo };

/// Options of proximal policy optimisation (policy.hpp).
struct PolicyOptions {
  std::int64_t batch = 10, epochs = 10;
  double rate = 5.0, clip = 0.2, entropy = 0.01;
  static void describe(deck::Describe<PolicyOptions>& d);
};

struct StrategyOptions {
  Strategy strategy = Strategy::evolution;
  std::int64_t population = 100, sample = 10;  ///< of aging evolution
  double good = 0.2;                           ///< fraction of the trials that TPE imitates
  std::int64_t candidates = 24;                ///< drawn by TPE
  PolicyOptions policy;
  std::uint64_t seed = 1;
};

/// Genome of trial `number`, given the finished trials. A pure function of its arguments, so a recorded search is
/// repeatable in any order of execution.
///   evolution: aging evolution (Real et al. 2019): of the last `population` finished trials, `sample` are drawn
///     without replacement and one decision of the best is changed; random until there are that many.
///   random: uniform.
///   tpe: tree-structured Parzen estimator on independent choices (Bergstra et al. 2011): of `candidates` drawn from
///     the smoothed frequencies among the good trials, the one with the largest ratio of good to other frequencies.
///   ppo: drawn from a policy trained on the finished trials (policy.hpp).
Genome propose(const SearchSpace& space, const StrategyOptions& options, std::int64_t number,
               const std::vector<Trial>& finished);

}  // namespace cambium::tune
