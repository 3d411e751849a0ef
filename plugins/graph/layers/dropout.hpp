#pragma once
#include <cstdint>

#include "plugins/graph/layers/layer.hpp"

namespace cambium::graph {

/// Dropout factors: 0 with probability `rate` (rounded to 1/65536), else 1 / (1 - rate). A function of seed, step,
/// layer, node and index only, and therefore independent of the ranks.
class Dropout {
 public:
  Dropout(double rate, const Draws& draws, int layer);
  bool drops() const { return threshold_ > 0; }
  /// Factors of the `count` features of a node.
  template <class T>
  void fill(std::int32_t node, std::int64_t count, T* factors) const;
  /// Factors of the message from node `from` to node `to`, one for each head.
  template <class T>
  void fill_edge(std::int32_t to, std::int32_t from, int heads, T* factors) const;

 private:
  std::uint32_t threshold_ = 0;  ///< of 65536
  double scale_ = 1.0;
  std::uint64_t seed_ = 1, step_ = 0;
};

}  // namespace cambium::graph
