#include "core/train/low_rank/choose_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cambium::train {

std::vector<std::int64_t> candidate_ranks(const FactorLayer& layer, std::int64_t multiple, std::size_t most_ranks) {
  std::int64_t limit = 1;
  const auto most = layer.convolution() ? std::max(layer.inputs, layer.outputs) : std::min(layer.inputs, layer.outputs);
  while (limit < most && layer.multiplications(limit) < layer.multiplications(0)) ++limit;
  std::vector<std::int64_t> out;
  for (const double share : {1.0 / 16, 0.125, 0.1875, 0.25, 0.375, 0.5, 0.625, 0.75, 0.9}) {
    auto rank = static_cast<std::int64_t>(std::lround(share * static_cast<double>(limit)));
    if (rank > multiple) rank -= rank % multiple;
    rank = std::max<std::int64_t>(rank, 1);
    if (layer.multiplications(rank) < layer.multiplications(0) && (out.empty() || out.back() < rank))
      out.push_back(rank);
  }
  if (out.size() > most_ranks) {  // evenly spaced, including the smallest and the largest
    std::vector<std::int64_t> fewer;
    for (std::size_t k = 0; k < most_ranks; ++k)
      fewer.push_back(out[most_ranks > 1 ? (k * (out.size() - 1) + (most_ranks - 1) / 2) / (most_ranks - 1) : 0]);
    out = fewer;
  }
  out.push_back(0);
  return out;
}

void make_rising(std::vector<double>& values) {
  struct Block {
    double sum = 0.0;
    std::size_t count = 0;
    double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Block> blocks;
  for (const double value : values) {
    blocks.push_back({value, 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() > blocks.back().mean()) {
      const Block last = blocks.back();
      blocks.pop_back();
      blocks.back().sum += last.sum;
      blocks.back().count += last.count;
    }
  }
  std::size_t k = 0;
  for (const auto& block : blocks)
    for (std::size_t n = 0; n < block.count; ++n) values[k++] = block.mean();
}

std::vector<std::size_t> choose_ranks(const std::vector<std::vector<RankCandidate>>& layers, double seconds) {
  // Knapsack by dynamic programming: times above each layer's minimum, rounded up to steps, within the remaining time.
  double least = 0.0, span = 0.0;
  std::vector<double> lows;
  for (const auto& layer : layers) {
    const auto [low, high] = std::minmax_element(layer.begin(), layer.end(),
                                                 [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
    lows.push_back(low->seconds);
    least += low->seconds;
    span += high->seconds - low->seconds;
  }
  if (least > seconds) return {};
  constexpr std::size_t steps = 2000;
  const double left = std::min(seconds - least, span), step = std::max(left / steps, 1e-300);
  constexpr double none = std::numeric_limits<double>::infinity();
  std::vector<double> best(steps + 1, 0.0);
  std::vector<std::vector<std::size_t>> taken;  // by layer and by steps available up to it
  for (std::size_t l = 0; l < layers.size(); ++l) {
    std::vector<double> next(steps + 1, none);
    std::vector<std::size_t> choice(steps + 1, 0);
    for (std::size_t c = 0; c < layers[l].size(); ++c) {
      const double over = std::ceil((layers[l][c].seconds - lows[l]) / step - 1e-9);
      if (over > static_cast<double>(steps)) continue;
      const auto cost = static_cast<std::size_t>(std::max(over, 0.0));
      for (std::size_t s = cost; s <= steps; ++s)
        if (const double loss = best[s - cost] + layers[l][c].loss; loss < next[s]) next[s] = loss, choice[s] = c;
    }
    best = std::move(next);
    taken.push_back(std::move(choice));
  }
  std::vector<std::size_t> out(layers.size());
  std::size_t s = steps;
  for (std::size_t l = layers.size(); l-- > 0;) {
    out[l] = taken[l][s];
    const double over = std::ceil((layers[l][out[l]].seconds - lows[l]) / step - 1e-9);
    s -= static_cast<std::size_t>(std::max(over, 0.0));
  }
  return out;
}

}  // namespace cambium::train
