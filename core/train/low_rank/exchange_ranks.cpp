#include "core/train/low_rank/exchange_ranks.hpp"

#include <algorithm>
#include <map>

#include "core/parallel/random.hpp"

namespace cambium::train {
namespace {

class RankExchange {
 public:
  RankExchange(const CostTable& costs, double seconds, const RankLoss& loss, std::int64_t most)
      : costs_(costs), seconds_(seconds), loss_(loss), most_(most) {}

  Exchanged from(const std::vector<Choice>& choices) {
    std::vector<Exchanged> all;
    for (const auto& choice : choices) all.push_back({choice, loss_of(choice)});
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.loss < b.loss; });
    Exchanged best = all.front();
    for (auto& at : all) {
      while (looked_at_ < most_ && better(at)) {
      }
      if (at.loss < best.loss) best = at;
    }
    // The remaining evaluations use random combinations, which may be better starting points where losses of single
    // layers do not predict their sum.
    for (std::uint64_t k = 0; looked_at_ < most_ && k < static_cast<std::uint64_t>(most_); ++k) {
      Exchanged at{random(k)};
      at.loss = loss_of(at.choice);
      while (at.loss < best.loss) {
        best = at;
        better(at);
      }
    }
    best.looked_at = looked_at_;
    return best;
  }

 private:
  /// Another candidate of a layer, with the loss that it adds if all others are unchanged.
  struct Step {
    std::size_t layer = 0, candidate = 0;
    double loss = 0.0, seconds = 0.0;
  };
  struct Trial {
    Choice choice;
    double expected = 0.0;  ///< change of the loss
  };

  static constexpr std::size_t tries = 8;  ///< combinations evaluated before steps are measured again
  double loss_of(const Choice& choice) {
    const auto found = known_.find(choice);
    if (found != known_.end()) return found->second;
    ++looked_at_;
    return known_[choice] = loss_(choice);
  }
  /// Ranks raised in random order while the time allows; deterministic in k.
  Choice random(std::uint64_t k) const {
    std::vector<std::pair<double, std::size_t>> raises;
    for (std::size_t l = 0; l < costs_.candidates.size(); ++l)
      for (std::size_t c = 1; c < costs_.candidates[l].size(); ++c)
        raises.push_back({Random4(0, Stream::search, k, (static_cast<std::uint64_t>(l) << 32) + c).uniform(0), l});
    std::sort(raises.begin(), raises.end());
    Choice out(costs_.candidates.size(), 0);
    for (const auto& raise : raises)
      if (++out[raise.second]; costs_.predicted(out) > seconds_) --out[raise.second];
    return out;
  }
  std::vector<Step> steps_of(const Exchanged& at) {
    constexpr std::size_t reach = 2;
    std::vector<Step> out;
    for (std::size_t l = 0; l < at.choice.size(); ++l) {
      const auto& list = costs_.candidates[l];
      const std::size_t now = at.choice[l], first = now > reach ? now - reach : 0;
      for (std::size_t k = first; k < std::min(list.size(), now + reach + 1); ++k) {
        if (k == now || looked_at_ >= most_) continue;
        auto other = at.choice;
        other[l] = k;
        out.push_back({l, k, loss_of(other) - at.loss, list[k].seconds - list[now].seconds});
      }
    }
    return out;
  }
  /// The best sum over all layers.
  Trial best_sum(const Exchanged& at, const std::vector<Step>& steps) const {
    std::vector<std::vector<RankCandidate>> lists;
    std::vector<std::vector<std::size_t>> numbers;
    for (std::size_t l = 0; l < at.choice.size(); ++l) {
      auto its = costs_.candidates[l][at.choice[l]];
      its.loss = 0.0;
      lists.push_back({its});
      numbers.push_back({at.choice[l]});
    }
    for (const auto& step : steps) {
      auto its = costs_.candidates[step.layer][step.candidate];
      its.loss = step.loss;
      lists[step.layer].push_back(its);
      numbers[step.layer].push_back(step.candidate);
    }
    const auto found = choose_ranks(lists, seconds_ - costs_.seconds);
    Trial out{at.choice, 0.0};
    for (std::size_t l = 0; l < found.size(); ++l) {
      out.choice[l] = numbers[l][found[l]];
      out.expected += lists[l][found[l]].loss;
    }
    return out;
  }
  /// Steps of up to three layers that fit into the time, the best sums first.
  std::vector<Trial> trials_of(const Exchanged& at, const std::vector<Step>& steps) const {
    struct Sum {
      std::vector<std::size_t> of;
      double loss = 0.0, seconds = 0.0;
    };
    const double left = seconds_ - costs_.predicted(at.choice);
    std::vector<Sum> sums{{}};
    for (std::size_t begin = 0, most = 3; most > 0; --most) {
      const std::size_t end = sums.size();
      for (std::size_t k = begin; k < end; ++k)
        for (std::size_t s = sums[k].of.empty() ? 0 : sums[k].of.back() + 1; s < steps.size(); ++s) {
          if (!sums[k].of.empty() && steps[sums[k].of.back()].layer == steps[s].layer) continue;
          Sum more = sums[k];
          more.of.push_back(s);
          more.loss += steps[s].loss;
          more.seconds += steps[s].seconds;
          sums.push_back(std::move(more));
        }
      begin = end;
    }
    std::erase_if(sums, [&](const Sum& sum) { return sum.of.empty() || sum.seconds > left; });
    const std::size_t first = std::min<std::size_t>(tries, sums.size());
    std::partial_sort(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(first), sums.end(),
                      [](const auto& a, const auto& b) { return a.loss < b.loss; });
    std::vector<Trial> out;
    for (std::size_t k = 0; k < first; ++k) {
      out.push_back({at.choice, sums[k].loss});
      for (const auto s : sums[k].of) out.back().choice[steps[s].layer] = steps[s].candidate;
    }
    return out;
  }
  bool better(Exchanged& at) {
    const auto steps = steps_of(at);
    auto trials = trials_of(at, steps);
    trials.insert(trials.begin(), best_sum(at, steps));
    const Exchanged before = at;
    for (std::size_t k = 0; k < trials.size() && looked_at_ < most_; ++k)
      if (costs_.predicted(trials[k].choice) <= seconds_)
        if (const double its = loss_of(trials[k].choice); its < at.loss) at.choice = trials[k].choice, at.loss = its;
    return at.loss < before.loss;
  }

  const CostTable& costs_;
  double seconds_;
  const RankLoss& loss_;
  std::int64_t most_, looked_at_ = 0;
  std::map<Choice, double> known_;
};

}  // namespace

Exchanged exchange_ranks(const CostTable& costs, const std::vector<Choice>& from, double seconds, const RankLoss& loss,
                         std::int64_t most) {
  return RankExchange(costs, seconds, loss, most).from(from);
}

}  // namespace cambium::train
