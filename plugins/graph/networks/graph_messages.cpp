#include "plugins/graph/networks/graph_messages.hpp"

namespace cambium::graph {

using torch::Tensor;

TwoLayersImpl::TwoLayersImpl(std::int64_t inputs, std::int64_t width, std::int64_t outputs, bool normalised) {
  in = register_module("in", torch::nn::Linear(inputs, width));
  out = register_module("out", torch::nn::Linear(width, outputs));
  if (normalised)
    norm =
        register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions(std::vector<std::int64_t>{outputs})));
}

Tensor TwoLayersImpl::forward(const Tensor& x) {
  const Tensor y = out(torch::silu(in(x)));
  return norm.is_empty() ? y : norm(y);
}

EdgeExchangeImpl::EdgeExchangeImpl(std::int64_t width) {
  edge_update = register_module("edge_update", TwoLayers(3 * width, width, width, true));
  node_update = register_module("node_update", TwoLayers(2 * width, width, width, true));
}

void EdgeExchangeImpl::forward(Tensor& node, Tensor& edge, const DirectedEdges& edges) {
  edge = edge + edge_update(torch::cat({edge, node.index_select(0, edges.from), node.index_select(0, edges.to)}, 1));
  const Tensor heard = torch::zeros_like(node).index_add(0, edges.to, edge);
  node = node + node_update(torch::cat({node, heard}, 1));
}

}  // namespace cambium::graph
