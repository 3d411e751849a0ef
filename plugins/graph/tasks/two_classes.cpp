#include "plugins/graph/tasks/two_classes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace cambium::graph {

TwoClassScore two_class_score(std::span<const std::int32_t> labels, std::span<const double> scores) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const auto ones = static_cast<double>(std::count(labels.begin(), labels.end(), 1));
  const auto zeros = static_cast<double>(labels.size()) - ones;
  if (ones == 0.0 || zeros == 0.0 || std::any_of(scores.begin(), scores.end(), [](double s) { return std::isnan(s); }))
    return {none, none};
  std::vector<std::size_t> order(labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return scores[a] > scores[b]; });
  double found = 0.0, wrong = 0.0, pairs = 0.0, precision = 0.0;
  for (std::size_t k = 0; k < order.size();) {
    double here_ones = 0.0, here_zeros = 0.0;
    const double score = scores[order[k]];
    for (; k < order.size() && scores[order[k]] == score; ++k) (labels[order[k]] == 1 ? here_ones : here_zeros) += 1.0;
    pairs += here_zeros * (found + 0.5 * here_ones);
    found += here_ones;
    wrong += here_zeros;
    precision += here_ones * found / (found + wrong);
  }
  return {pairs / (ones * zeros), precision / ones};
}

}  // namespace cambium::graph
