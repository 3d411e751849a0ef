#include "plugins/graph/networks/graph_attention.hpp"

namespace cambium::graph {

void GraphAttention::Params::describe(deck::Describe<Params>& d) {
  describe_node_network(d);
  d("heads", &Params::heads, "attentions of each hidden layer, every one of its width").range(1, 64).def(8);
  d("last_heads", &Params::last_heads, "attentions of the last layer, whose mean is taken").range(1, 64).def(1);
  d("negative_slope", &Params::slope, "negative slope of the leaky ReLU").formerly("slope").range(0.0, 1.0).def(0.2);
  d("edge_dropout", &Params::edge_dropout, "dropout probability of the attention coefficients in training")
      .range(0.0, 0.95)
      .def(0.6);
  d.check([](const Params& p) { return problem_of(p); });
}

EngineShape GraphAttention::shape_of(std::int64_t features, std::int64_t classes) const {
  EngineShape out;
  out.weighing = Weighing::pattern;
  out.network.activation = NetworkShape::Activation::elu;
  out.network.layers = layers_of(LayerShape::Kind::attention, features, classes);
  std::int64_t in = features;
  for (auto& layer : out.network.layers) {
    const bool last = &layer == &out.network.layers.back();
    layer.in = in;
    layer.heads = static_cast<int>(last ? params_.last_heads : params_.heads);
    layer.joined = !last;
    layer.slope = params_.slope;
    layer.dropout = params_.edge_dropout;
    in = layer.width();
  }
  return out;
}

std::vector<Citation> GraphAttention::citations() const {
  return {{"velickovic2018", R"(@inproceedings{velickovic2018,
  author    = {Veli{\v{c}}kovi{\'c}, Petar and Cucurull, Guillem and Casanova, Arantxa and Romero, Adriana and Li{\`o}, Pietro and Bengio, Yoshua},
  title     = {Graph Attention Networks},
  booktitle = {International Conference on Learning Representations},
  year      = {2018},
  url       = {https://arxiv.org/abs/1710.10903}
})"}};
}

}  // namespace cambium::graph
