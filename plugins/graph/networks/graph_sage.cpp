#include "plugins/graph/networks/graph_sage.hpp"

namespace cambium::graph {

void GraphSage::Params::describe(deck::Describe<Params>& d) {
  describe_node_network(d);
  describe_tiles(d);
  d.check([](const Params& p) { return problem_of(p); });
}

EngineShape GraphSage::shape_of(std::int64_t features, std::int64_t classes) const {
  EngineShape out;
  out.weighing = Weighing::mean;
  out.network.layers = layers_of(LayerShape::Kind::sage, features, classes);
  return out;
}

std::vector<Citation> GraphSage::citations() const {
  return {{"hamilton2017", R"(@inproceedings{hamilton2017,
  author    = {Hamilton, William L. and Ying, Rex and Leskovec, Jure},
  title     = {Inductive Representation Learning on Large Graphs},
  booktitle = {Advances in Neural Information Processing Systems},
  volume    = {30},
  year      = {2017},
  url       = {https://arxiv.org/abs/1706.02216}
})"}};
}

}  // namespace cambium::graph
