#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/plugin/result.hpp"

namespace cambium {

/// Load imbalance of the ranks in a loop, and its cost.
struct RankLoad {
  double busiest = 1.0;  ///< largest work over the mean
  double lost = 0.0;     ///< % of the time that the others waited for the busiest rank
  double waiting = 0.0;  ///< % of the time, the mean over the ranks, in messages and waits

  std::string line() const;
  /// Without a line of their own in the summary: line() is it.
  std::vector<Result> results() const;
};

/// Collective. For a loop of `seconds`, of which this rank spent `waited` in messages and waits; the rest of the time
/// is work. None if no time passed.
std::optional<RankLoad> rank_load(double seconds, double waited, const Comm& comm);

}  // namespace cambium
