#pragma once
#include <torch/torch.h>

namespace cambium::graph {

/// Two linear layers with a SiLU between, and a layer normalisation of what comes out where asked for.
struct TwoLayersImpl : torch::nn::Module {
  TwoLayersImpl(std::int64_t inputs, std::int64_t width, std::int64_t outputs, bool normalised);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  torch::nn::Linear in{nullptr}, out{nullptr};
  torch::nn::LayerNorm norm{nullptr};
};
TORCH_MODULE(TwoLayers);

/// Directed edges of a graph: (edges) int64 each.
struct DirectedEdges {
  torch::Tensor from, to;
};

/// One exchange along all edges: an edge learns from itself and its two nodes, a node from itself and the sum of the
/// edges that end at it; both add what they learn to what they knew (Pfaff, Fortunato, Sanchez-Gonzalez, Battaglia,
/// ICLR 2021).
struct EdgeExchangeImpl : torch::nn::Module {
  explicit EdgeExchangeImpl(std::int64_t width);
  void forward(torch::Tensor& node, torch::Tensor& edge, const DirectedEdges& edges);

 private:
  TwoLayers edge_update{nullptr}, node_update{nullptr};
};
TORCH_MODULE(EdgeExchange);

}  // namespace cambium::graph
