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

/// One proposed point of a search space, and what became of it. Its number addresses everything random about it.
struct Trial {
  std::int64_t number = 0;
  std::int64_t known = 0;  ///< finished trials that the proposal was made from, in their order
  Genome genome;
  double reward = 0.0;          ///< higher is better
  std::int32_t best_epoch = 0;  ///< where the reward was reached
  std::int32_t epochs = 0;      ///< trained
  std::int32_t attempts = 1;
  std::int32_t worker = 0;
  std::int64_t copy_of = -1;  ///< number of the trial of the same network, evaluated instead
  bool failed = false;
  std::vector<double> rungs;  ///< reward so far at each rung of successive halving; NaN where it was not reached
  double started = 0.0, seconds = 0.0;  ///< since the search began, the time before a restart included; duration
};

/// The reward of a trial that failed for good.
constexpr double failed_reward = -1e3;

/// A space of independent choices, and the network that a point stands for.
struct SearchSpace {
  std::vector<int> choices;                             ///< of every decision
  std::function<std::string(const Genome&)> canonical;  ///< equal for equal networks
};

enum class Strategy { evolution, random, tpe, ppo };

/// Of proximal policy optimisation (policy.hpp).
struct PolicyOptions {
  std::int64_t batch = 10, epochs = 10;
  double rate = 5.0, clip = 0.2, entropy = 0.01;
  static void describe(deck::Describe<PolicyOptions>& d);
};

struct StrategyOptions {
  Strategy strategy = Strategy::evolution;
  std::int64_t population = 100, sample = 10;  ///< of aging evolution
  double good = 0.2;                           ///< share of the trials that TPE imitates
  std::int64_t candidates = 24;                ///< that TPE draws
  PolicyOptions policy;
  std::uint64_t seed = 1;
};

/// The genome of trial `number` from the finished trials. A pure function of its arguments, which makes a recorded
/// search repeatable whatever order it ran in.
///   evolution: aging evolution (Real et al. 2019): of the last `population` finished trials `sample` are drawn without
///     repetition and one decision of the best is changed; random until there are that many.
///   random: uniform.
///   tpe: tree-structured Parzen estimator on independent choices (Bergstra et al. 2011): of `candidates` drawn from
///   the
///     smoothed frequencies among the good trials, the one with the largest ratio of good to other frequencies.
///   ppo: drawn from a policy that the finished trials taught (policy.hpp).
Genome propose(const SearchSpace& space, const StrategyOptions& options, std::int64_t number,
               const std::vector<Trial>& finished);

}  // namespace cambium::tune
