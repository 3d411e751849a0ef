#include "plugins/graph/networks/graph_messages.hpp"

namespace cambium::graph {

using torch::Tensor;

TwoLayersImpl::TwoLayersImpl(train::RankLayers& made, const TwoLayersShape& shape) {
  in = register_module("in", made.linear(shape.inputs, shape.width, shape.rows));
  out = register_module("out", made.linear(shape.width, shape.outputs, shape.rows));
  if (shape.normalised)
    norm = register_module("norm",
                           torch::nn::LayerNorm(torch::nn::LayerNormOptions(std::vector<std::int64_t>{shape.outputs})));
}

Tensor TwoLayersImpl::forward(const Tensor& x) {
  const Tensor y = out->forward(torch::silu(in->forward(x)));
  return norm.is_empty() ? y : norm(y);
}

EdgeExchangeImpl::EdgeExchangeImpl(train::RankLayers& made, std::int64_t width, std::int64_t nodes,
                                   std::int64_t edges) {
  edge_update = register_module("edge_update", TwoLayers(made, TwoLayersShape{3 * width, width, width, edges}));
  node_update = register_module("node_update", TwoLayers(made, TwoLayersShape{2 * width, width, width, nodes}));
}

void EdgeExchangeImpl::forward(Tensor& node, Tensor& edge, const DirectedEdges& edges) {
  edge = edge + edge_update(torch::cat({edge, node.index_select(0, edges.from), node.index_select(0, edges.to)}, 1));
  const Tensor heard = torch::zeros_like(node).index_add(0, edges.to, edge);
  node = node + node_update(torch::cat({node, heard}, 1));
}

}  // namespace cambium::graph
