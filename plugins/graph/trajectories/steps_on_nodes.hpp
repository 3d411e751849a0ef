#pragma once
#include <cstdint>

namespace cambium::graph {

/// Interface of a network of one step on nodes to the code that makes its steps; known once it was trained or read.
class StepsOnNodes {
 public:
  virtual ~StepsOnNodes() = default;
  virtual double interval() const = 0;  ///< time of one step
  virtual std::int64_t fields_on_nodes() const = 0;
  /// Radius of the receptive field of an output, in edges.
  virtual std::int64_t reach() const = 0;
};

}  // namespace cambium::graph
