#pragma once
#include <span>
#include <vector>

#include "core/parallel/comm.hpp"
#include "plugins/graph/links/link_graph.hpp"

namespace cambium::graph {

/// Scores of every item for some users, for ranking metrics.
class LinkScores {
 public:
  virtual ~LinkScores() = default;
  /// `out`: users x items, row-major.
  virtual void scores(std::span<const std::int32_t> users, float* out) = 0;
};

/// Ranking metrics of held-out links among the items that a user has no link to in training or validation.
struct Ranking {
  double recall = 0.0;     ///< fraction of a user's held-out items among the k best, mean over users who have some
  double ndcg = 0.0;       ///< sum of 1 / log2(1 + rank) over these, by that of the best ranking, mean over the same
  double auc = 0.0;        ///< how often a held-out item scores above a negative one (judged_item()), mean over links
  std::int64_t users = 0;  ///< with held-out links
};

/// Collective: users are distributed over ranks; the result does not depend on their number. Items of equal score are
/// ordered by their index.
Ranking judge(const LinkGraph& graph, LinkScores& scores, std::int64_t k, const Comm& comm);

/// An item and its score.
struct Ranked {
  std::int32_t item = 0;
  float score = 0.0f;
};

/// The k best items (fewer if there are no more) to which a user is not linked in training or validation, best
/// first.
std::vector<Ranked> best_items(const LinkGraph& graph, std::int32_t user, std::span<const float> scores,
                               std::int64_t k);

}  // namespace cambium::graph
