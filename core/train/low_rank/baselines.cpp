#include "core/train/low_rank/baselines.hpp"

#include <algorithm>

namespace cambium::train {

/// Raises a layer to its next rank; smaller `turn` first.
struct Raise {
  double turn = 0.0;
  std::size_t layer = 0;
};

static std::vector<std::size_t> raised_within(const CostTable& table, std::vector<Raise> raises, double seconds) {
  std::stable_sort(raises.begin(), raises.end(), [](const auto& a, const auto& b) { return a.turn < b.turn; });
  std::vector<std::size_t> out(table.candidates.size(), 0);
  if (table.predicted(out) > seconds) return {};
  std::vector<bool> stays(out.size(), false);
  for (const auto& [turn, layer] : raises) {
    if (stays[layer]) continue;
    ++out[layer];
    if (table.predicted(out) > seconds) --out[layer], stays[layer] = true;
  }
  return out;
}

std::vector<std::size_t> equal_shares(const CostTable& table, double seconds) {
  std::vector<Raise> raises;
  for (std::size_t l = 0; l < table.candidates.size(); ++l)
    for (std::size_t k = 1; k < table.candidates[l].size(); ++k)
      raises.push_back({static_cast<double>(k) / static_cast<double>(table.candidates[l].size() - 1), l});
  return raised_within(table, std::move(raises), seconds);
}

std::vector<std::size_t> equal_energy(const CostTable& table, double seconds) {
  std::vector<Raise> raises;
  for (std::size_t l = 0; l < table.candidates.size(); ++l)
    for (std::size_t k = 1; k < table.candidates[l].size(); ++k) raises.push_back({table.candidates[l][k - 1].kept, l});
  return raised_within(table, std::move(raises), seconds);
}

std::vector<std::size_t> fastest(const CostTable& table) {
  std::vector<std::size_t> out;
  for (const auto& list : table.candidates)
    out.push_back(static_cast<std::size_t>(
        std::min_element(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; }) -
        list.begin()));
  return out;
}

}  // namespace cambium::train
