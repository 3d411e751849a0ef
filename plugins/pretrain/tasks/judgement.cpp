#include "plugins/pretrain/tasks/judgement.hpp"

#include <limits>

#include "plugins/pretrain/features/similar.hpp"

namespace cambium::pretrain {

SearchScore judge_search(const Method& method, const Questions& questions, Context& context) {
  const std::int64_t n = method.queries.rows, rank = context.comm.rank(), ranks = context.comm.size();
  std::vector<double> sums(4, 0.0);  // first, among ten, places, asked
  for_each_query(method.archive, method.queries, n * rank / ranks, n * (rank + 1) / ranks,
                 [&](std::int64_t query, std::span<const double> similar) {
                   for (const auto& list : questions.lists(query)) {
                     double best = -std::numeric_limits<double>::infinity();
                     for (const auto entry : list)
                       if (questions.right(query, entry))
                         best = std::max(best, similar[static_cast<std::size_t>(entry)]);
                     if (best == -std::numeric_limits<double>::infinity()) continue;
                     double place = 1.0;
                     for (const auto entry : list)
                       place += similar[static_cast<std::size_t>(entry)] > best && !questions.right(query, entry);
                     sums[0] += place <= 1.0, sums[1] += place <= 10.0, sums[2] += place, sums[3] += 1.0;
                   }
                 });
  context.comm.sum(sums);
  if (sums[3] == 0.0) return {};
  return {sums[0] / sums[3], sums[1] / sums[3], sums[2] / sums[3], static_cast<std::int64_t>(sums[3])};
}

}  // namespace cambium::pretrain
