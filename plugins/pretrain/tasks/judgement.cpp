#include "plugins/pretrain/tasks/judgement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plugins/pretrain/features/similar.hpp"

namespace cambium::pretrain {

Place place_of_right(const std::vector<double>& similar, const std::vector<bool>& right) {
  constexpr double rounding = 1e-12;
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < similar.size(); ++k)
    if (right[k]) best = std::max(best, similar[k]);
  double above = 0.0, wrong = 0.0, all = 0.0;  // above the best relevant one; ties, irrelevant; ties
  for (std::size_t k = 0; k < similar.size(); ++k) {
    if (similar[k] > best + rounding) above += 1.0;
    if (std::abs(similar[k] - best) > rounding) continue;
    all += 1.0;
    if (!right[k]) wrong += 1.0;
  }
  Place out;
  out.mean = 1.0 + above + wrong / (all - wrong + 1.0);
  // Probability that none of the first positions among equals has a relevant entry.
  const auto none_within = [&](double places) {
    double out_of = 1.0;
    for (double taken = 0.0; taken < places && out_of > 0.0; taken += 1.0)
      out_of *= std::max(0.0, wrong - taken) / std::max(1.0, all - taken);
    return out_of;
  };
  out.first = above == 0.0 ? 1.0 - none_within(1.0) : 0.0;
  out.among_ten = above < 10.0 ? 1.0 - none_within(10.0 - above) : 0.0;
  return out;
}

SearchScore judge_search(const Method& method, const Questions& questions, Context& context) {
  const std::int64_t n = method.queries.rows, rank = context.comm.rank(), ranks = context.comm.size();
  std::vector<double> sums(4, 0.0);  // first, among ten, rank, queries
  for_each_query(method.archive, method.queries, n * rank / ranks, n * (rank + 1) / ranks,
                 [&](std::int64_t query, std::span<const double> similar) {
                   for (const auto& list : questions.lists(query)) {
                     std::vector<double> values;
                     std::vector<bool> right;
                     for (const auto entry : list) {
                       values.push_back(similar[entry]);
                       right.push_back(questions.right(query, entry));
                     }
                     if (std::find(right.begin(), right.end(), true) == right.end()) continue;
                     const Place place = place_of_right(values, right);
                     sums[0] += place.first;
                     sums[1] += place.among_ten;
                     sums[2] += place.mean;
                     sums[3] += 1.0;
                   }
                 });
  context.comm.sum(sums);
  if (sums[3] == 0.0) return {};
  return {sums[0] / sums[3], sums[1] / sums[3], sums[2] / sums[3], static_cast<std::int64_t>(sums[3])};
}

}  // namespace cambium::pretrain
