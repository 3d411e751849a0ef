#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/parallel/random.hpp"
#include "core/train/tune/policy.hpp"

namespace cambium::tune {

namespace {

/// Sequence of uniform random numbers of one trial.
class Draws {
 public:
  Draws(std::uint64_t seed, std::int64_t number) : seed_(seed), number_(static_cast<std::uint64_t>(number)) {}
  double uniform() {
    const auto k = static_cast<int>(next_ % 4);
    return Random4(seed_, Stream::search, number_, next_++ / 4).uniform(k);
  }
  int below(std::int64_t n) { return static_cast<int>(uniform() * static_cast<double>(n)); }

 private:
  std::uint64_t seed_, number_, next_ = 0;
};

Genome random_genome(const SearchSpace& space, Draws& draws) {
  Genome out;
  for (int n : space.choices) out.push_back(draws.below(n));
  return out;
}

Genome evolve(const SearchSpace& space, const StrategyOptions& o, const std::vector<Trial>& finished, Draws& draws) {
  std::vector<std::int64_t> pool(o.population);
  std::iota(pool.begin(), pool.end(), std::ssize(finished) - o.population);
  const Trial* parent = nullptr;
  for (std::int64_t k = 0; k < std::min(o.sample, o.population); ++k) {
    const auto pick = k + draws.below(o.population - k);
    std::swap(pool[k], pool[pick]);
    const Trial& t = finished[pool[k]];
    if (!parent || t.reward > parent->reward) parent = &t;
  }
  Genome child = parent->genome;
  const auto decision = static_cast<std::size_t>(draws.below(std::ssize(child)));
  const int other = draws.below(space.choices[decision] - 1);
  child[decision] = other < child[decision] ? other : other + 1;
  return child;
}

/// Draws a choice by its probability.
std::size_t drawn(const std::vector<double>& probability, Draws& draws) {
  double u = draws.uniform();
  std::size_t choice = 0;
  while (choice + 1 < probability.size() && u >= probability[choice]) u -= probability[choice++];
  return choice;
}

using Trials = std::vector<const Trial*>;

/// Smoothed frequencies of every choice of every decision.
std::vector<std::vector<double>> frequencies(const SearchSpace& space, Trials::const_iterator first,
                                             Trials::const_iterator last) {
  std::vector<std::vector<double>> out;
  for (std::size_t d = 0; d < space.choices.size(); ++d) {
    auto& p = out.emplace_back(static_cast<std::size_t>(space.choices[d]), 1.0);
    for (auto t = first; t != last; ++t) p[(*t)->genome[d]] += 1.0;
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& x : p) x /= sum;
  }
  return out;
}

Genome parzen(const SearchSpace& space, const StrategyOptions& o, const std::vector<Trial>& finished, Draws& draws) {
  Trials sorted;
  for (const auto& t : finished) sorted.push_back(&t);
  std::stable_sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->reward > b->reward; });
  const auto count = static_cast<std::ptrdiff_t>(std::ceil(o.good * static_cast<double>(sorted.size())));
  const auto split = sorted.cbegin() + std::max<std::ptrdiff_t>(1, count);
  const auto good = frequencies(space, sorted.cbegin(), split), other = frequencies(space, split, sorted.cend());
  Genome best;
  double best_ratio = -1e300;
  for (std::int64_t c = 0; c < o.candidates; ++c) {
    Genome g;
    double ratio = 0.0;
    for (std::size_t d = 0; d < good.size(); ++d) {
      const std::size_t choice = drawn(good[d], draws);
      g.push_back(static_cast<int>(choice));
      ratio += std::log(good[d][choice] / other[d][choice]);
    }
    if (ratio > best_ratio) {
      best_ratio = ratio;
      best = std::move(g);
    }
  }
  return best;
}

Genome by_policy(const SearchSpace& space, const StrategyOptions& o, const std::vector<Trial>& finished, Draws& draws) {
  Genome out;
  for (const auto& p : taught_policy(space, o.policy, finished)) out.push_back(static_cast<int>(drawn(p, draws)));
  return out;
}

}  // namespace

Genome propose(const SearchSpace& space, const StrategyOptions& o, std::int64_t number,
               const std::vector<Trial>& finished) {
  Draws draws(o.seed, number);
  const auto n = std::ssize(finished);
  if (o.strategy == Strategy::evolution && n >= o.population) return evolve(space, o, finished, draws);
  if (o.strategy == Strategy::tpe && n >= std::max<std::ptrdiff_t>(20, std::ssize(space.choices)))
    return parzen(space, o, finished, draws);
  if (o.strategy == Strategy::ppo) return by_policy(space, o, finished, draws);
  return random_genome(space, draws);
}

std::string genome_text(const Genome& genome) {
  std::string out;
  for (int g : genome) out += fmt::format("{}{}", out.empty() ? "" : " ", g);
  return out;
}

}  // namespace cambium::tune
