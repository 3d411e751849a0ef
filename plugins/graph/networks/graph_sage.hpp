#pragma once
#include "plugins/graph/networks/node_network.hpp"

namespace cambium::graph {

/// GraphSAGE with means (Hamilton, Ying and Leskovec 2017): layers relu(x W_self + mean of neighbours' x W_neighbours +
/// b), the last without ReLU.
class GraphSage : public NodeNetwork {
 public:
  struct Params : NodeNetworkParams {
    static void describe(deck::Describe<Params>& d);
  };
  GraphSage(const Params& params, Context& context) : NodeNetwork(params, "graph_sage", context) {}
  std::vector<Citation> citations() const override;

 protected:
  EngineShape shape_of(std::int64_t features, std::int64_t classes) const override;
};

}  // namespace cambium::graph
