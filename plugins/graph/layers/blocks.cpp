#include "plugins/graph/layers/blocks.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "plugins/graph/graphs/streams.hpp"

namespace cambium::graph {

namespace {

/// Indices of `count` of `all` items, ascending, drawn without replacement (Floyd).
std::vector<std::int64_t> draw_places(std::int64_t all, std::int64_t count, std::uint64_t seed, std::uint64_t id,
                                      std::uint64_t step) {
  std::vector<std::int64_t> out;
  for (std::int64_t k = all - count; k < all; ++k) {
    const Random4 random(seed, neighbours_stream, id | static_cast<std::uint64_t>(k) << 32, step);
    const std::uint64_t bits = static_cast<std::uint64_t>(random.bits[0]) << 32 | random.bits[1];
    const auto place = static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(k + 1));
    const auto taken = std::lower_bound(out.begin(), out.end(), place);
    if (taken != out.end() && *taken == place)
      out.push_back(k);
    else
      out.insert(taken, place);
  }
  return out;
}

/// Sampled entries of a row: indices in the row, and the factors of their values.
struct Heard {
  std::vector<std::int64_t> places;
  double factor = 1.0;  ///< not of the node itself
};

Heard heard_by(std::span<const std::int32_t> row, std::int32_t node, std::size_t layer, const NeighbourDraw& draw) {
  constexpr std::uint64_t most_layers = 64;
  std::vector<std::int64_t> others;
  std::int64_t own = -1;
  for (std::size_t e = 0; e < row.size(); ++e) {
    const auto place = static_cast<std::int64_t>(e);
    if (row[e] == node)
      own = place;
    else
      others.push_back(place);
  }
  Heard out;
  const auto all = std::ssize(others);
  if (draw.fan_out.empty() || all <= draw.fan_out[layer]) {
    out.places.resize(row.size());
    std::iota(out.places.begin(), out.places.end(), std::int64_t{0});
    return out;
  }
  const auto count = draw.fan_out[layer];
  for (const auto k : draw_places(all, count, draw.seed, static_cast<std::uint64_t>(node),
                                  static_cast<std::uint64_t>(draw.step) * most_layers + layer))
    out.places.push_back(others[k]);
  if (own >= 0) {
    out.places.push_back(own);
    std::sort(out.places.begin(), out.places.end());
  }
  if (draw.scaled) out.factor = static_cast<double>(all) / static_cast<double>(count);
  return out;
}

}  // namespace

template <class T>
Blocks<T> blocks_of(const Csr<T>& a, std::span<const std::int32_t> nodes, std::size_t layers,
                    const NeighbourDraw& draw) {
  Blocks<T> out;
  out.nodes.assign(nodes.begin(), nodes.end());
  out.spreads.resize(layers);
  for (std::size_t l = layers; l-- > 0;) {
    std::unordered_map<std::int32_t, std::int32_t> number;
    auto& inputs = out.nodes;
    for (std::size_t k = 0; k < inputs.size(); ++k) number.emplace(inputs[k], static_cast<std::int32_t>(k));
    Csr<T> block;
    block.rows = std::ssize(inputs);
    for (std::int64_t i = 0; i < block.rows; ++i) {
      const auto node = inputs[i];
      const auto columns = a.columns_of(node);
      const auto values = a.values_of(node);
      const Heard heard = heard_by(columns, node, l, draw);
      std::vector<std::pair<std::int32_t, T>> row;
      for (const auto place : heard.places) {
        const auto from = columns[place];
        const auto [found, fresh] = number.emplace(from, static_cast<std::int32_t>(inputs.size()));
        if (fresh) inputs.push_back(from);
        const T value = values[place];
        row.emplace_back(found->second, from == node ? value : value * static_cast<T>(heard.factor));
      }
      std::sort(row.begin(), row.end());
      for (const auto& [column, value] : row) {
        block.column.push_back(column);
        block.value.push_back(value);
      }
      block.start.push_back(std::ssize(block.column));
    }
    block.columns = std::ssize(inputs);
    out.spreads[l] = std::make_unique<Spread<T>>(std::move(block), inputs);
  }
  return out;
}

template Blocks<float> blocks_of(const Csr<float>&, std::span<const std::int32_t>, std::size_t, const NeighbourDraw&);
template Blocks<double> blocks_of(const Csr<double>&, std::span<const std::int32_t>, std::size_t, const NeighbourDraw&);

}  // namespace cambium::graph
