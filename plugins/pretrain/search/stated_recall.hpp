#pragma once
#include "plugins/pretrain/search/exact_search.hpp"
#include "plugins/pretrain/search/inverted_lists.hpp"

namespace cambium::pretrain {

/// Recall and cost of an index, as measured.
struct StatedRecall {
  Effort effort;
  double wanted = 0.0;
  double recall = 0.0;    ///< share of the `count` exactly nearest rows that queries find by which nothing was chosen
  double compared = 0.0;  ///< share of all rows that such a query is compared with
  std::int64_t count = 0, queries = 0;
  std::string text(std::int64_t lists) const;  ///< as a line of the last page
};

/// For each query the share of exactly nearest rows that was found; a row as similar as one of them counts, single
/// precision seeing no difference below 1e-6. The first `skipped` of each query do not count.
std::vector<double> recall_of(const Entries& found, const Entries& exact, std::int64_t skipped = 0);

/// Collective: the least effort whose mean recall, less its standard error, reaches what is wanted on half of at most
/// 400 of the queries; recall and share as the other half finds them.
StatedRecall stated_recall(const InvertedLists& index, const FloatRows& queries, std::int64_t count, double wanted,
                           const Comm& comm);

/// Collective: the same with rows of the index as queries. Each finds itself first, which does not count.
StatedRecall stated_recall_by_own_rows(const InvertedLists& index, std::int64_t count, double wanted, const Comm& comm);

}  // namespace cambium::pretrain
