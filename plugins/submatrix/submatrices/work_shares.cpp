#include "plugins/submatrix/submatrices/work_shares.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace cambium::submatrix {

namespace {

double efficiency(const std::vector<double>& loads) {
  const double most = *std::max_element(loads.begin(), loads.end());
  const double all = std::accumulate(loads.begin(), loads.end(), 0.0);
  return most > 0.0 ? all / (static_cast<double>(loads.size()) * most) : 1.0;
}

/// The middles of own columns in the running sum of the cost of all.
std::vector<double> middles(std::span<const double> cost, double before) {
  std::vector<double> out;
  for (double c : cost) {
    out.push_back(before + 0.5 * c);
    before += c;
  }
  return out;
}

}  // namespace

WorkShares work_shares(std::span<const double> cost, const ColumnRanges& owned, const Comm& comm) {
  WorkShares out{owned};
  if (comm.size() == 1) return out;
  const auto ranks = static_cast<std::size_t>(comm.size()), rank = static_cast<std::size_t>(comm.rank());
  std::vector<double> loads(ranks, 0.0), dealt(ranks, 0.0), first(ranks, 0.0);
  loads[rank] = std::accumulate(cost.begin(), cost.end(), 0.0);
  comm.sum(loads);
  out.owned = out.dealt = efficiency(loads);
  if (out.owned >= good_efficiency) return out;
  const double all = std::accumulate(loads.begin(), loads.end(), 0.0);
  const auto middle = middles(cost, std::accumulate(loads.begin(), loads.begin() + comm.rank(), 0.0));
  // Rank r begins with the first column whose midpoint is beyond r / ranks of the total: this counts the columns before
  // it.
  for (std::size_t k = 0; k < middle.size(); ++k) {
    const auto home = std::min(ranks - 1, static_cast<std::size_t>(middle[k] / all * static_cast<double>(ranks)));
    dealt[home] += cost[k];
    for (std::size_t r = home + 1; r < ranks; ++r) first[r] += 1.0;
  }
  comm.sum(dealt);
  comm.sum(first);
  const double better = efficiency(dealt);
  if (better <= out.owned) return out;
  out.dealt = better;
  for (std::size_t r = 1; r < ranks; ++r) out.ranges.first[r] = static_cast<int>(first[r]);
  return out;
}

}  // namespace cambium::submatrix
