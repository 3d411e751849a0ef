#pragma once
#include <functional>
#include <vector>

#include "core/parallel/context.hpp"
#include "plugins/pretrain/features/methods.hpp"

namespace cambium::pretrain {

/// How often a search is right, over all that was asked.
struct SearchScore {
  double first = 0.0;      ///< share whose nearest is a right one
  double among_ten = 0.0;  ///< share with a right one among the ten nearest
  double place = 0.0;      ///< mean place of the nearest right one, 1 being the best
  std::int64_t asked = 0;
};

/// Where the most similar right one of some entries stands. Entries as similar as it stand in an order drawn by chance,
/// so that vectors that are all equal are right as often as chance is.
struct Place {
  double mean = 1.0;       ///< 1: the most similar
  double first = 0.0;      ///< how probably the first one is right
  double among_ten = 0.0;  ///< how probably one of the first ten is
};
/// At least one is right. Similarities within 1e-12 are equal.
Place place_of_right(const std::vector<double>& similar, const std::vector<bool>& right);

/// Which entries of the archive a query is compared with: one or several lists, each a question of its own; and which
/// of them are right.
struct Questions {
  std::function<std::vector<std::vector<std::int64_t>>(std::int64_t query)> lists;
  std::function<bool(std::int64_t query, std::int64_t entry)> right;
};

/// Collective: ranks share the queries. Lists without a right entry are not asked.
SearchScore judge_search(const Method& method, const Questions& questions, Context& context);

}  // namespace cambium::pretrain
