#pragma once
#include "plugins/graph/networks/node_network.hpp"

namespace cambium::graph {

/// Graph convolutions (Kipf and Welling 2017): layers relu(A x W + b), A = D^-1/2 (A + I) D^-1/2, the last without
/// ReLU.
class Gcn : public NodeNetwork {
 public:
  struct Params : NodeNetworkParams {
    Params() { decay = Decay::first; }
    bool neighbours = true;
    static void describe(deck::Describe<Params>& d);
  };
  Gcn(const Params& params, Context& context) : NodeNetwork(params, "gcn", context), neighbours_(params.neighbours) {}
  std::vector<Citation> citations() const override;

 protected:
  EngineShape shape_of(std::int64_t features, std::int64_t classes) const override;

 private:
  bool neighbours_;
};

}  // namespace cambium::graph
