#include "plugins/graph/networks/gcn.hpp"

namespace cambium::graph {

void Gcn::Params::describe(deck::Describe<Params>& d) {
  describe_node_network(d);
  describe_tiles(d);
  d("neighbours", &Params::neighbours,
    "message passing over neighbours; false: each node is classified by its own features only, a baseline")
      .def(true);
  d.check([](const Params& p) { return problem_of(p); });
}

EngineShape Gcn::shape_of(std::int64_t features, std::int64_t classes) const {
  EngineShape out;
  if (!neighbours_) out.weighing = Weighing::none;
  out.network.layers = layers_of(LayerShape::Kind::convolution, features, classes);
  return out;
}

std::vector<Citation> Gcn::citations() const {
  return {{"kipf2017", R"(@inproceedings{kipf2017,
  author    = {Kipf, Thomas N. and Welling, Max},
  title     = {Semi-Supervised Classification with Graph Convolutional Networks},
  booktitle = {International Conference on Learning Representations},
  year      = {2017},
  url       = {https://arxiv.org/abs/1609.02907}
})"},
          {"tripathy2020", R"(@inproceedings{tripathy2020,
  author    = {Tripathy, Alok and Yelick, Katherine and Bulu{\c{c}}, Ayd{\i}n},
  title     = {Reducing Communication in Graph Neural Network Training},
  booktitle = {SC20: International Conference for High Performance Computing, Networking, Storage and Analysis},
  year      = {2020},
  doi       = {10.1109/SC41405.2020.00074}
})"}};
}

}  // namespace cambium::graph
