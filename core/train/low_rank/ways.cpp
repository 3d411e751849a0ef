#include "core/train/low_rank/ways.hpp"

#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "core/train/low_rank/baselines.hpp"
#include "core/train/low_rank/pass_times.hpp"
#include "core/train/low_rank/time_table.hpp"

namespace cambium::train {

std::string slower_than_allowed(const std::string& name, double predicted, double measured, double allowed) {
  return fmt::format(
      "{}: predicted to take {:.4g} ms, measured to take {:.4g} ms of {:.4g} ms that are allowed, and none that are "
      "faster "
      "were found; measure again on a quiet machine, or allow more",
      name, 1e3 * predicted, 1e3 * measured, 1e3 * allowed);
}

double Ways::seconds_of(const Choice& choice) {
  if (costs_.counted) return costs_.predicted(choice);
  if (choice == whole().choice) return costs_.seconds;
  auto model = assemble(whole_, costs_.ranks(choice), context_);
  double share = pass_times(*whole_.network, whole_.weights, *model.network, model.weights, timed_).share;
  context_.comm.broadcast(std::span(&share, 1));
  return share * costs_.seconds;
}

/// Probabilities may differ by rounding between ranks, and times do: all ranks use the choices of rank 0.
std::vector<Choice> Ways::around(const Choose& choose, double seconds) const {
  std::string text;
  for (const auto& choice : choices_around(choose, seconds)) {
    for (const auto c : choice) text += fmt::format("{} ", c);
    text += '\n';
  }
  context_.comm.broadcast(text);
  std::vector<Choice> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream numbers(line);
    auto& choice = out.emplace_back();
    for (std::size_t c; numbers >> c;) choice.push_back(c);
  }
  return out;
}

/// The largest choice that is fast enough when measured, whatever was predicted. If there is none (a busy machine, a
/// network dominated by call overhead), predictions are used, with a warning.
Way Ways::within(const char* key, const char* name, const Choose& choose, double seconds) {
  auto choices = around(choose, seconds);
  Way out{key, name};
  const auto found = last_within(choices.size(), seconds, [&](std::size_t k) { return seconds_of(choices[k]); });
  if (found) {
    out.choice = choices[found->index];
    out.seconds = found->time;
  } else if (choices = around([&](double) { return choose(seconds); }, seconds); !choices.empty()) {
    out.choice = choices[0];
    out.seconds = seconds_of(out.choice);
  }
  if (out.choice.empty()) return out;
  const auto said = said_.find(out.choice);
  out.predicted = said != said_.end() ? said->second : costs_.predicted(out.choice);
  if (!found) context_.log.warn(slower_than_allowed(name, out.predicted, out.seconds, seconds));
  return out;
}

/// Choices whose times are far from the prediction correct the table. The prediction for a choice never uses its own
/// measurement.
Way Ways::by_table(double seconds) {
  constexpr int tries = 3;
  constexpr double near = 0.05;
  const Choose choose = [&](double within) { return choose_ranks(costs_.candidates, within - costs_.seconds); };
  for (int k = 0; k < tries; ++k) {
    const auto all = around([&](double) { return choose(seconds); }, seconds);
    if (all.empty() || said_.contains(all[0])) break;
    const auto& last = all[0];
    const double predicted = said_[last] = costs_.predicted(last);
    const auto off = [&](double measured) { return measured / predicted - 1.0; };
    double measured = seconds_of(last);
    if (std::abs(off(measured)) <= near) break;
    if (const double again = seconds_of(last); std::abs(off(again)) < std::abs(off(measured))) measured = again;
    if (std::abs(off(measured)) <= near) break;
    context_.log.info(
        fmt::format("ranks by table take {:.4g} ms, {:+.3g} of what was predicted: the table is corrected",
                    1e3 * measured, off(measured)));
    correct_times(costs_, last, measured);
  }
  return within("table", "ranks by table", choose, seconds);
}

Way Ways::by_search(double seconds, std::span<const SamplePtr> samples, const SearchKeys& keys) {
  const auto found = search_ranks(costs_, whole_, samples, seconds, keys, context_);
  return within(
      "search", "ranks by search", [&](double its) { return ranks_near(costs_, found, its); }, seconds);
}

Way Ways::least() {
  const auto all = around([&](double) { return fastest(costs_); }, costs_.seconds);
  return {"table", "fastest ranks", all[0], costs_.predicted(all[0]), seconds_of(all[0])};
}

std::vector<Way> Ways::baselines(const Way& chosen) {
  auto its = assemble(whole_, costs_.ranks(chosen.choice), context_);
  const auto time_over = [&](const Choice& choice) {
    if (costs_.counted) return costs_.predicted(choice) / chosen.seconds;
    auto model = assemble(whole_, costs_.ranks(choice), context_);
    double share = pass_times(*its.network, its.weights, *model.network, model.weights, timed_).share;
    context_.comm.broadcast(std::span(&share, 1));
    return share;
  };
  using Rule = std::vector<std::size_t> (*)(const CostTable&, double);
  std::vector<Way> out;
  for (const auto& [key, name, rule] : {std::tuple{"equal_shares", "equal shares", Rule{equal_shares}},
                                        std::tuple{"equal_energy", "equal energy", Rule{equal_energy}}}) {
    const auto choices = around([&, &rule = rule](double seconds) { return rule(costs_, seconds); }, chosen.seconds);
    const auto found =
        last_within(choices.size(), baselines_time, [&](std::size_t k) { return time_over(choices[k]); });
    if (!found) continue;
    const auto& choice = choices[found->index];
    out.push_back({key, name, choice, costs_.predicted(choice), found->time * chosen.seconds, found->time});
  }
  return out;
}

Way Ways::whole() const {
  Way out{"whole", "whole"};
  for (const auto& list : costs_.candidates) out.choice.push_back(list.size() - 1);
  return out;
}

}  // namespace cambium::train
