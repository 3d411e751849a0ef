#pragma once
#include <vector>

#include "core/sparse/csr.hpp"
#include "core/sparse/layer_order.hpp"

namespace cambium::train {

/// One epoch of a network that computes all nodes of a graph at once, as a plan sees it.
struct GraphWork {
  sparse::Csr<double> matrix;               ///< square; its values do not matter
  std::vector<sparse::LayerWidths> layers;  ///< A H W each, in the order that sends less
  int number_bytes = 4;                     ///< of the network's precision
};

/// A network that can say so, once fit_statistics() has shown it the graph.
class WorksOnGraph {
 public:
  virtual ~WorksOnGraph() = default;
  virtual GraphWork graph_work() const = 0;
};

}  // namespace cambium::train
