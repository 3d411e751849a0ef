#include "core/train/run/slowest_rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cambium::train {

/// Computing time; the sections "reduce" and "validate" include waiting for other ranks.
static double seconds_alone(const Timing& timing) {
  constexpr std::array own{"data", "gradient", "optimizer"};
  double sum = 0.0;
  for (const auto& section : timing.sections())
    if (std::find(own.begin(), own.end(), section.name) != own.end()) sum += section.seconds;
  return sum;
}

std::vector<Result> slowest_rank(const Context& context, double loop) {
  const auto& comm = context.comm;
  if (comm.size() == 1) return {};
  std::vector<double> seconds(static_cast<std::size_t>(comm.size()), 0.0);
  seconds[static_cast<std::size_t>(comm.rank())] = seconds_alone(context.timing);
  comm.sum(seconds);
  const auto worst = std::max_element(seconds.begin(), seconds.end());
  double mean = 0.0;
  for (const double s : seconds) mean += s / static_cast<double>(seconds.size());
  const double share = 100.0 * *worst / std::max(loop, 1e-9);
  return {{.key = "slowest_rank",
           .label = "slowest rank",
           .value = static_cast<double>(worst - seconds.begin()),
           .remark = fmt::format("computes {:.1f} % of the loop, {:.2f} times the mean of the ranks", share,
                                 *worst / std::max(mean, 1e-9))},
          {.key = "slowest_rank_share",
           .label = "computation of the slowest rank, fraction of the loop",
           .value = share,
           .unit = "%",
           .digits = 0},
          {.key = "imbalance_of_ranks",
           .label = "computation of the slowest rank over the mean",
           .value = *worst / std::max(mean, 1e-9),
           .digits = 3}};
}

}  // namespace cambium::train
