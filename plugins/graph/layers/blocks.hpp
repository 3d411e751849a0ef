#pragma once
#include <memory>

#include "plugins/graph/layers/spread.hpp"

namespace cambium::graph {

/// Inputs of a batch of nodes: for each layer, the nodes that it reads and how they are heard.
template <class T>
struct Blocks {
  std::vector<std::unique_ptr<Spread<T>>> spreads;  ///< of each layer, the first one's inputs being `nodes`
  std::vector<std::int32_t> nodes;                  ///< whose features are read
};

/// Which neighbours a layer hears: `fan_out[l]` of them, drawn without replacement by (seed, node, layer, step), or all
/// where there are no more, or where fan_out is empty. What is drawn is scaled up, so that sums keep their mean; the
/// node itself is never left out. `scaled` is false for layers that weigh by themselves.
struct NeighbourDraw {
  std::vector<std::int64_t> fan_out;
  bool scaled = true;
  std::uint64_t seed = 1;
  std::int64_t step = 0;
};

/// Blocks of `layers` layers for these nodes, which all differ. `a` is the matrix over all nodes.
template <class T>
Blocks<T> blocks_of(const Csr<T>& a, std::span<const std::int32_t> nodes, std::size_t layers,
                    const NeighbourDraw& draw);

}  // namespace cambium::graph
