#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/train/low_rank/cost_table.hpp"

namespace cambium::train {

/// The block `search` of a stage compress.
struct SearchKeys {
  std::int64_t steps = 200, batch = 16;
  double rate = 0.1;
  static void describe(deck::Describe<SearchKeys>& d);
};

/// Results of a search: chances of each layer's candidates after the descent, and the candidates that are taken; empty
/// where none is fast enough.
struct FoundRanks {
  std::vector<std::vector<double>> chances;
  std::vector<std::size_t> choice;
};

/// Ranks by descent. Each layer is all its candidates at once, w = sum_k p_k w_k with p = softmax(a / t) and w_k what
/// the factors of rank k multiply to, which for a layer linear in its weights is the mean of the candidates' answers
/// (Xiao et al., AAAI 2023). What descends, by Adam on a, is the loss over the whole network's plus c max(T, budget) /
/// budget with T = sum_k p_k t_k from the table of measured times; c follows what T exceeds the budget by, t falls from
/// 1 to 0.1, so that one candidate is left of each layer. Unlike the table's losses, those here are of all layers at
/// once. The network only gives its gradient, so every network that HasFactors can be searched. Of the chances at the
/// end the likeliest combination within `seconds` is taken, exactly; what it leaves of the time goes to larger ranks by
/// the table's losses. From it, and from what the table and equal shares and energies lead to, exchange_ranks() goes
/// on.
FoundRanks search_ranks(const CostTable& costs, LoadedModel& whole, std::span<const SamplePtr> samples, double seconds,
                        const SearchKeys& keys, Context& context);

/// Result, with some ranks larger or smaller by the table's losses, so that another time is used.
std::vector<std::size_t> ranks_near(const CostTable& costs, const FoundRanks& found, double seconds);

}  // namespace cambium::train
