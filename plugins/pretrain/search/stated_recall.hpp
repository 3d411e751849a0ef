#pragma once
#include "plugins/pretrain/search/exact_search.hpp"
#include "plugins/pretrain/search/inverted_lists.hpp"

namespace cambium::pretrain {

/// Measured recall and cost of an index.
struct StatedRecall {
  Effort effort;
  double wanted = 0.0;
  double recall = 0.0;    ///< fraction of the `count` exact nearest rows found, on queries not used for the choice
  double compared = 0.0;  ///< fraction of all rows compared with such a query
  std::int64_t count = 0, queries = 0;
  std::string text(std::int64_t lists) const;  ///< as a line of the stage summary
};

/// Fraction of exact nearest rows found, for each query; a row as similar as one of them counts, within 1e-6, the limit
/// of single precision. The first `skipped` of each query are ignored.
std::vector<double> recall_of(const Entries& found, const Entries& exact, std::int64_t skipped = 0);

/// Collective: the least effort whose mean recall, minus its standard error, reaches `wanted` on half of at most 400 of
/// the queries; recall and cost are measured on the other half.
StatedRecall stated_recall(const InvertedLists& index, const FloatRows& queries, std::int64_t count, double wanted,
                           const Comm& comm);

/// Collective: the same with rows of the index as queries. The first result of each, the row itself, is ignored.
StatedRecall stated_recall_by_own_rows(const InvertedLists& index, std::int64_t count, double wanted, const Comm& comm);

}  // namespace cambium::pretrain
