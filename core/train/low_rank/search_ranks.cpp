#include "core/train/low_rank/search_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/train/low_rank/baselines.hpp"
#include "core/train/low_rank/exchange_ranks.hpp"
#include "core/train/low_rank/mixture.hpp"

namespace cambium::train {

void SearchKeys::describe(deck::Describe<SearchKeys>& d) {
  d("steps", &SearchKeys::steps,
    "maximum number of steps of the descent on selection probabilities, and of combinations evaluated afterwards")
      .at_least(1)
      .def(200);
  d("batch", &SearchKeys::batch, "mini-batch size of the rank selection").at_least(1).def(16);
  d("learning_rate", &SearchKeys::rate, "learning rate of Adam").formerly("rate").positive().def(0.1);
}

namespace {

std::vector<double> softmax(const std::vector<double>& a, double temperature) {
  const double most = *std::max_element(a.begin(), a.end());
  std::vector<double> out;
  double sum = 0.0;
  for (const double x : a) sum += out.emplace_back(std::exp((x - most) / temperature));
  for (double& p : out) p /= sum;
  return out;
}

/// Adam on the logits of the probabilities.
struct Descent {
  std::vector<std::vector<double>> values, mean, square;
  double rate;
  std::int64_t step = 0;

  Descent(const CostTable& costs, double its_rate) : rate(its_rate) {
    for (const auto& list : costs.candidates) values.emplace_back(list.size(), 0.0);
    mean = square = values;
  }
  void go(std::size_t l, std::size_t k, double gradient) {
    constexpr double b1 = 0.9, b2 = 0.99;
    double &m = mean[l][k], &s = square[l][k];
    m = b1 * m + (1 - b1) * gradient;
    s = b2 * s + (1 - b2) * gradient * gradient;
    const double n = static_cast<double>(step);
    values[l][k] -= rate * m / (1 - std::pow(b1, n)) / (std::sqrt(s / (1 - std::pow(b2, n))) + 1e-12);
  }
};

double mean_time(const CostTable& costs, const std::vector<std::vector<double>>& chances) {
  double sum = costs.seconds;
  for (std::size_t l = 0; l < chances.size(); ++l)
    for (std::size_t k = 0; k < chances[l].size(); ++k) sum += chances[l][k] * costs.candidates[l][k].seconds;
  return sum;
}

/// The candidates with the largest product of probabilities within the time.
std::vector<std::size_t> likeliest(const CostTable& costs, const std::vector<std::vector<double>>& chances,
                                   double seconds) {
  auto table = costs.candidates;
  for (std::size_t l = 0; l < table.size(); ++l)
    for (std::size_t k = 0; k < table[l].size(); ++k) table[l][k].loss = -std::log(chances[l][k] + 1e-12);
  return choose_ranks(table, seconds - costs.seconds);
}

/// The choice with larger ranks, or only smaller ones, to use the time, by the table's losses.
std::vector<std::size_t> fitted(const CostTable& costs, const std::vector<std::size_t>& choice, double seconds) {
  const bool larger = costs.predicted(choice) <= seconds;
  auto lists = costs.candidates;
  for (std::size_t l = 0; l < choice.size(); ++l) {
    const auto at = lists[l].begin() + static_cast<std::ptrdiff_t>(choice[l]);
    if (larger)
      lists[l].erase(lists[l].begin(), at);
    else
      lists[l].erase(at + 1, lists[l].end());
  }
  auto out = choose_ranks(lists, seconds - costs.seconds);
  if (out.empty()) return larger ? choice : out;
  for (std::size_t l = 0; larger && l < out.size(); ++l) out[l] += choice[l];
  return out;
}

}  // namespace

std::vector<std::size_t> ranks_near(const CostTable& costs, const FoundRanks& found, double seconds) {
  return found.choice.empty() ? found.choice : fitted(costs, found.choice, seconds);
}

FoundRanks search_ranks(const CostTable& costs, LoadedModel& whole, std::span<const SamplePtr> samples, double seconds,
                        const SearchKeys& keys, Context& context) {
  Mixture mixture(costs, whole);
  Descent descent(costs, keys.rate);
  auto by_chance = descent.values;
  FoundRanks out;
  double price = 1.0;
  const auto batch = std::min(samples.size(), static_cast<std::size_t>(keys.batch));
  const std::size_t turns = samples.size() / batch;
  std::vector<double> of_whole;  // loss by batch
  for (std::size_t turn = 0; turn < turns; ++turn)
    of_whole.push_back(loss_of(*whole.network, whole.weights, samples.subspan(batch * turn, batch), keys.batch));
  for (std::int64_t step = 0; step < keys.steps; ++step) {
    const double done = static_cast<double>(step) / static_cast<double>(keys.steps);
    const double temperature = std::pow(0.1, done);
    out.chances.clear();
    for (const auto& a : descent.values) out.chances.push_back(softmax(a, temperature));
    const std::size_t turn = static_cast<std::size_t>(step) % turns;
    const double unit = of_whole[turn];
    const double loss = mixture.loss(out.chances, samples.subspan(batch * turn, batch), by_chance) / unit;
    const double over = mean_time(costs, out.chances) / seconds - 1.0;
    price = std::clamp(price * std::exp(0.2 * std::clamp(over, -1.0, 1.0)), 1e-4, 1e6);
    ++descent.step;
    for (std::size_t l = 0; l < out.chances.size(); ++l) {
      const auto& p = out.chances[l];
      if (p.size() == 1) continue;
      std::vector<double> by(p.size());
      double mean = 0.0;
      for (std::size_t k = 0; k < p.size(); ++k) {
        by[k] = by_chance[l][k] / unit + price * costs.candidates[l][k].seconds / seconds;
        mean += p[k] * by[k];
      }
      for (std::size_t k = 0; k < p.size(); ++k) descent.go(l, k, p[k] * (by[k] - mean) / temperature);
    }
    if (step % std::max<std::int64_t>(1, keys.steps / 10) == 0)
      context.log.info(
          fmt::format("search, step {:>5}: loss {:.4g} of the full network's, time {:.4g} of what is allowed", step,
                      loss, over + 1.0));
  }
  out.choice = likeliest(costs, out.chances, seconds);
  if (out.choice.empty()) return out;
  // The loss of a mixture is not that of one of its candidates: the exchange starts from the results of the descent and
  // of simpler rules.
  const RankLoss loss = [&](const Choice& choice) { return mixture.loss(choice, samples, keys.batch); };
  std::vector<Choice> from{fitted(costs, out.choice, seconds)};
  for (const auto& other : {choose_ranks(costs.candidates, seconds - costs.seconds), equal_shares(costs, seconds),
                            equal_energy(costs, seconds)})
    if (std::find(from.begin(), from.end(), other) == from.end()) from.push_back(other);
  const double before = loss(from[0]);
  const auto better = exchange_ranks(costs, from, seconds, loss, keys.steps);
  context.log.info(
      fmt::format("search, exchanges: loss {:.4g} of the full network's, {:.4g} before, {} combinations evaluated",
                  better.loss / costs.loss, before / costs.loss, better.looked_at));
  out.choice = better.choice;
  return out;
}

}  // namespace cambium::train
