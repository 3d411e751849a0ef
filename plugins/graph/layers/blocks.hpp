#pragma once
#include <memory>

#include "plugins/graph/layers/spread.hpp"

namespace cambium::graph {

/// Inputs of a batch of nodes: for each layer, the nodes that it reads and their aggregation matrix.
template <class T>
struct Blocks {
  std::vector<std::unique_ptr<Spread<T>>> spreads;  ///< of each layer; the inputs of the first one are `nodes`
  std::vector<std::int32_t> nodes;                  ///< nodes whose features are read
};

/// Neighbour sampling of a layer: `fan_out[l]` neighbours, drawn without replacement by (seed, node, layer, step), or
/// all if there are no more or fan_out is empty. Sampled neighbours are scaled up to keep the mean of sums; the node
/// itself is always included. `scaled` is false for layers that compute their own weights.
struct NeighbourDraw {
  std::vector<std::int64_t> fan_out;
  bool scaled = true;
  std::uint64_t seed = 1;
  std::int64_t step = 0;
};

/// Blocks of `layers` layers for these nodes, which must be distinct. `a` is the matrix over all nodes.
template <class T>
Blocks<T> blocks_of(const Csr<T>& a, std::span<const std::int32_t> nodes, std::size_t layers,
                    const NeighbourDraw& draw);

}  // namespace cambium::graph
