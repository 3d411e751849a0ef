#include "bench/task_bench/metg.hpp"

#include <algorithm>

namespace cambium::task_bench {

std::optional<double> metg(const std::vector<GrainPoint>& points, double efficiency) {
  std::optional<double> best;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const GrainPoint& here = points[k];
    if (here.efficiency < efficiency) continue;
    double grain = here.granularity;
    if (k + 1 < points.size() && points[k + 1].efficiency < efficiency) {
      const GrainPoint& next = points[k + 1];
      const double share = (here.efficiency - efficiency) / (here.efficiency - next.efficiency);
      grain = std::min(grain, here.granularity + share * (next.granularity - here.granularity));
    }
    best = std::min(best.value_or(grain), grain);
  }
  return best;
}

}  // namespace cambium::task_bench
