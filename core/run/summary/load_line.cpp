#include "core/run/summary/load_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cambium {

std::optional<RankLoad> rank_load(double seconds, double waited, const Comm& comm) {
  const double own = std::max(0.0, seconds - waited);
  std::array<double, 3> means{seconds, waited, own};
  comm.sum(means);
  for (double& mean : means) mean /= comm.size();
  const double largest = comm.max(own);
  if (!(means[0] > 0.0 && means[2] > 0.0)) return {};
  return RankLoad{largest / means[2], 100.0 * (largest - means[2]) / means[0], 100.0 * means[1] / means[0]};
}

std::string RankLoad::line() const {
  return fmt::format(
      "load: the busiest rank worked {:.2f} times as long as the mean, which cost the others {:.1f} % of the time; "
      "messages and waiting took {:.1f} %",
      busiest, lost, waiting);
}

std::vector<Result> RankLoad::results() const {
  return {{.key = "load_busiest_rank", .label = "load: busiest rank over the mean", .value = busiest, .digits = 0},
          {.key = "load_lost", .label = "load: lost by the others", .value = lost, .unit = "%", .digits = 0},
          {.key = "load_waiting", .label = "load: messages and waiting", .value = waiting, .unit = "%", .digits = 0}};
}

}  // namespace cambium
