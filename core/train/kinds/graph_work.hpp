#pragma once
#include <vector>

#include "core/sparse/csr.hpp"
#include "core/sparse/layer_order.hpp"

namespace cambium::train {

/// Work of one epoch of a network that computes all nodes of a graph at once, as used by `cambium plan`.
struct GraphWork {
  sparse::Csr<double> matrix;               ///< square; its values do not matter
  std::vector<sparse::LayerWidths> layers;  ///< A H W each, in the order with less communication
  int number_bytes = 4;                     ///< of the network's precision
};

/// Interface of a network that reports this work, once fit_statistics() has read the graph.
class WorksOnGraph {
 public:
  virtual ~WorksOnGraph() = default;
  virtual GraphWork graph_work() const = 0;
};

}  // namespace cambium::train
