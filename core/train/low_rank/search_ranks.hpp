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

/// Results of a search: probabilities of each layer's candidates after the descent, and the chosen candidates; empty if
/// none is fast enough.
struct FoundRanks {
  std::vector<std::vector<double>> chances;
  std::vector<std::size_t> choice;
};

/// Differentiable rank search. Each layer is a mixture of its candidates, w = sum_k p_k w_k with p = softmax(a / t) and
/// w_k the product of the factors of rank k; for a layer linear in its weights this is the mean of the candidates'
/// outputs (Xiao et al., AAAI 2023). Adam on a minimises the loss relative to the full network's plus c max(T, budget)
/// / budget, with T = sum_k p_k t_k from the table of measured times. c follows the excess of T over the budget; t
/// falls from 1 to 0.1, which leaves one candidate per layer. Unlike the table's losses, these include all layers at
/// once. Only the gradient of the network is needed, so every network that HasFactors can be searched. At the end the
/// likeliest combination within `seconds` is determined exactly, and the remaining time is used for larger ranks by the
/// table's losses. From it, and from the results of the table, equal fractions and energies, exchange_ranks()
/// continues.
FoundRanks search_ranks(const CostTable& costs, LoadedModel& whole, std::span<const SamplePtr> samples, double seconds,
                        const SearchKeys& keys, Context& context);

/// The result with some ranks raised or lowered by the table's losses, to use another time.
std::vector<std::size_t> ranks_near(const CostTable& costs, const FoundRanks& found, double seconds);

}  // namespace cambium::train
