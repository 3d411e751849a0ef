#pragma once
#include "plugins/graph/networks/node_network.hpp"

namespace cambium::graph {

/// Graph attention (Velickovic et al. 2018): hidden layers concatenate several heads and apply ELU, the last one
/// averages its heads.
class GraphAttention : public NodeNetwork {
 public:
  struct Params : NodeNetworkParams {
    Params() { dropout = 0.6; }
    std::int64_t heads = 8, last_heads = 1;
    double slope = 0.2, edge_dropout = 0.6;
    static void describe(deck::Describe<Params>& d);
  };
  GraphAttention(const Params& params, Context& context)
      : NodeNetwork(params, "graph_attention", context), params_(params) {}
  std::vector<Citation> citations() const override;

 protected:
  EngineShape shape_of(std::int64_t features, std::int64_t classes) const override;

 private:
  Params params_;
};

}  // namespace cambium::graph
