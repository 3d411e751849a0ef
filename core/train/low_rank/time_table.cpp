#include "core/train/low_rank/time_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

namespace cambium::train {
namespace {

/// Saving as a fraction of the pass: measured, and expected from the fraction of multiplications.
struct Saving {
  double measured = 0.0, error = 0.0, counted = 0.0;
  bool believed = true;
};

/// Times the candidates, once per shape.
class Savings {
 public:
  Savings(CostTable& table, const RankTimer& timer, Log& log) : table_(table), timer_(timer), log_(log) {
    for (const auto& layer : table.layers) all_ += static_cast<double>(layer.multiplications(0));
  }
  std::vector<std::vector<Saving>> measured() {
    std::vector<std::vector<Saving>> out;
    for (std::size_t l = 0; l < table_.layers.size(); ++l) {
      auto& list = out.emplace_back();
      for (const auto& candidate : table_.candidates[l])
        if (candidate.rank > 0) list.push_back(of(l, candidate.rank));
    }
    return out;
  }

 private:
  /// True if it saves more than the layer can take, or costs several times what its factors can take.
  bool contradicts(const Saving& saving, const FactorLayer& layer, std::int64_t rank) const {
    // Slowdown per multiplication of a slow layer, relative to the average; overhead of calls.
    constexpr double slow = 8.0, unseen = 0.05;
    const double of_layer = static_cast<double>(layer.multiplications(0)) / all_;
    const double of_product = static_cast<double>(layer.multiplications(rank)) / all_;
    return saving.measured - 2.0 * saving.error > slow * of_layer + unseen ||
           saving.measured + 2.0 * saving.error < -slow * of_product - 3.0 * unseen;
  }
  Saving of(std::size_t l, std::int64_t rank) {
    const auto& layer = table_.layers[l];
    const Shape shape{layer.inputs, layer.outputs, layer.taps, layer.places, rank};
    if (const auto found = known_.find(shape); found != known_.end()) return found->second;
    std::vector<std::int64_t> ranks(table_.layers.size(), 0);
    ranks[l] = rank;
    Saving out;
    out.counted = static_cast<double>(layer.multiplications(0) - layer.multiplications(rank)) / all_;
    constexpr int tries = 3;
    for (int k = 0; k < tries; ++k) {
      const auto times = timer_(ranks);
      table_.seconds = std::min(table_.seconds, times.seconds);
      out.measured = 1.0 - times.share;
      out.error = times.error;
      out.believed = !contradicts(out, layer, rank);
      if (out.believed) break;
    }
    if (!out.believed)
      log_.warn(
          fmt::format("layer {} with rank {} saved {:.3g} of the time of a pass, though it has {:.3g} of the "
                      "multiplications: its time is taken from these; measure again on a quiet machine",
                      layer.name, rank, out.measured, out.counted));
    return known_[shape] = out;
  }

  using Shape = std::array<std::int64_t, 5>;
  CostTable& table_;
  const RankTimer& timer_;
  Log& log_;
  double all_ = 0.0;
  std::map<Shape, Saving> known_;
};

constexpr double least_error = 0.002;  // of a measured fraction: clocks, caches

/// Ratio between fractions of time and of multiplications, from the measurements.
double time_of_a_multiplication(const std::vector<std::vector<Saving>>& savings) {
  double with = 0.0, all = 0.0;
  for (const auto& list : savings)
    for (const auto& saving : list) {
      if (!saving.believed) continue;
      const double weight = 1.0 / (saving.error * saving.error + least_error * least_error);
      with += weight * saving.measured * saving.counted;
      all += weight * saving.counted * saving.counted;
    }
  return all > 0.0 ? std::clamp(with / all, 0.2, 1.2) : 0.8;
}

/// Weighted mean of the measured and the expected saving.
double likely(const Saving& saving, double by_count) {
  const double expected = by_count * saving.counted;
  if (!saving.believed) return expected;
  const double unsure = 0.5 * std::abs(expected) + 0.01, error = std::hypot(saving.error, least_error);
  const double weight = unsure * unsure / (unsure * unsure + error * error);
  return weight * saving.measured + (1.0 - weight) * expected;
}

/// Makes times non-decreasing in the rank, and limits the total saving of all layers to the time of the pass.
void settle(CostTable& table, const std::vector<std::vector<Saving>>& savings) {
  const double by_count = time_of_a_multiplication(savings);
  double most_saved = 0.0;
  for (std::size_t l = 0; l < savings.size(); ++l) {
    std::vector<double> changes;
    for (const auto& saving : savings[l]) changes.push_back(-likely(saving, by_count));
    make_rising(changes);
    for (std::size_t k = 0; k < changes.size(); ++k) table.candidates[l][k].seconds = changes[k];
    if (!changes.empty()) most_saved += std::max(-changes.front(), 0.0);
  }
  constexpr double all = 0.98;
  const double scale = table.seconds * std::min(1.0, all / std::max(most_saved, all));
  for (auto& list : table.candidates)
    for (auto& candidate : list) candidate.seconds *= scale;
}

void scale(CostTable& table, double factor) {
  for (auto& list : table.candidates)
    for (auto& candidate : list) candidate.seconds *= factor;
}

/// Saving of a network with several factored layers, as a fraction of the sum of their separate savings; measured again
/// if implausible. None if it remains so.
std::optional<double> saved_together(const CostTable& table, const std::vector<std::size_t>& choice,
                                     const RankTimer& timer) {
  constexpr double least = 0.5, most = 1.3, usual = 0.85, around = 0.15;
  const double alone = 1.0 - table.predicted(choice) / table.seconds;
  if (alone <= 0.0) return std::nullopt;
  constexpr int tries = 3;
  for (int k = 0; k < tries; ++k) {
    const auto times = timer(table.ranks(choice));
    const double factor = (1.0 - times.share) / alone, error = std::hypot(times.error, least_error) / alone;
    if (factor < least || factor > most) continue;
    const double weight = around * around / (around * around + error * error);
    return weight * factor + (1.0 - weight) * usual;
  }
  return std::nullopt;
}

/// The joint saving of several layers is not the sum of their separate savings, since calls and copies remain: scales
/// all savings by one factor, the median over some networks with equal fractions of all layers.
void calibrate(CostTable& table, const RankTimer& timer, Log& log) {
  std::vector<double> factors;
  for (const double at : {0.1, 0.25, 0.4, 0.55, 0.7}) {
    std::vector<std::size_t> choice;
    for (const auto& list : table.candidates)
      choice.push_back(static_cast<std::size_t>(at * static_cast<double>(list.size() - 1)));
    if (const auto factor = saved_together(table, choice, timer)) factors.push_back(*factor);
  }
  if (factors.empty())
    return log.warn(
        "what layers save together could not be timed, so it is taken for what they save alone; measure again on a "
        "quiet machine");
  std::sort(factors.begin(), factors.end());
  log.info(fmt::format("layers together save {:.3g} of what they save alone", factors[factors.size() / 2]));
  scale(table, factors[factors.size() / 2]);
}

}  // namespace

void measure_times(CostTable& table, const RankTimer& timer, Log& log) {
  table.seconds = std::numeric_limits<double>::infinity();
  const auto savings = Savings(table, timer, log).measured();
  if (!std::isfinite(table.seconds)) table.seconds = timer(std::vector<std::int64_t>(table.layers.size(), 0)).seconds;
  settle(table, savings);
  calibrate(table, timer, log);
}

void correct_times(CostTable& table, const std::vector<std::size_t>& choice, double measured_seconds) {
  const double saved = table.seconds - table.predicted(choice);
  if (saved <= 0.0) return;
  scale(table, std::clamp((table.seconds - measured_seconds) / saved, 0.7, 1.4));
}

}  // namespace cambium::train
