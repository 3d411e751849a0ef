#pragma once
#include <functional>
#include <vector>

#include "core/parallel/context.hpp"
#include "plugins/pretrain/features/methods.hpp"

namespace cambium::pretrain {

/// Retrieval metrics over all queries.
struct SearchScore {
  double first = 0.0;      ///< fraction whose nearest entry is relevant
  double among_ten = 0.0;  ///< fraction with a relevant entry among the ten nearest
  double place = 0.0;      ///< mean rank of the nearest relevant entry, 1 being the best
  std::int64_t asked = 0;
};

/// Rank of the most similar relevant entry of a list. Entries of equal similarity are in random order, so that vectors
/// that are all equal score at chance level.
struct Place {
  double mean = 1.0;       ///< 1: the most similar
  double first = 0.0;      ///< probability that the first entry is relevant
  double among_ten = 0.0;  ///< probability that one of the first ten is
};
/// At least one entry must be relevant. Similarities within 1e-12 are equal.
Place place_of_right(const std::vector<double>& similar, const std::vector<bool>& right);

/// Archive entries compared with a query: one or several lists, each evaluated separately; and the relevant ones among
/// them.
struct Questions {
  std::function<std::vector<std::vector<std::int64_t>>(std::int64_t query)> lists;
  std::function<bool(std::int64_t query, std::int64_t entry)> right;
};

/// Collective: queries are distributed over ranks. Lists without a relevant entry are skipped.
SearchScore judge_search(const Method& method, const Questions& questions, Context& context);

}  // namespace cambium::pretrain
