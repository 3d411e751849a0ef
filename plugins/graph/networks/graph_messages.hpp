#pragma once
#include <torch/torch.h>

#include <memory>

#include "core/train/networks/torch/rank_layers.hpp"

namespace cambium::graph {

/// Widths of two linear layers, and the number of rows of a sample.
struct TwoLayersShape {
  std::int64_t inputs = 0, width = 0, outputs = 0, rows = 1;
  bool normalised = true;
};

/// Two linear layers with a SiLU between them, optionally followed by a layer normalisation.
struct TwoLayersImpl : torch::nn::Module {
  TwoLayersImpl(train::RankLayers& made, const TwoLayersShape& shape);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  std::shared_ptr<train::RankLayer> in, out;
  torch::nn::LayerNorm norm{nullptr};
};
TORCH_MODULE(TwoLayers);

/// Directed edges of a graph: (edges) int64 each.
struct DirectedEdges {
  torch::Tensor from, to;
};

/// One exchange along all edges: an edge is updated from itself and its two nodes, a node from itself and the sum of
/// its incoming edges; both updates are residual (Pfaff, Fortunato, Sanchez-Gonzalez, Battaglia, ICLR 2021).
struct EdgeExchangeImpl : torch::nn::Module {
  /// `nodes`, `edges`: of a sample.
  EdgeExchangeImpl(train::RankLayers& made, std::int64_t width, std::int64_t nodes, std::int64_t edges);
  void forward(torch::Tensor& node, torch::Tensor& edge, const DirectedEdges& edges);

 private:
  TwoLayers edge_update{nullptr}, node_update{nullptr};
};
TORCH_MODULE(EdgeExchange);

}  // namespace cambium::graph
