#pragma once
#include <vector>

#include "plugins/graph/messages/message_model.hpp"

namespace cambium::graph {

/// Filters of edges: a linear layer of sin(n pi r / cutoff) / r, n = 1, 2, ..., times a polynomial that decreases from
/// 1 at r = 0 to 0 at the cut-off, where its first two derivatives vanish; times that polynomial again.
class EdgeFilters {
 public:
  /// Filters of `edges` distances r (Å) below the cut-off; if `slopes`, also their derivatives by r.
  void compute(const MessageModel& model, const MessageLinear& filter, const double* r, int edges, bool slopes);
  const double* values() const { return value_.data(); }  ///< [edge][filter.out]
  const double* slopes() const { return slope_.data(); }

 private:
  void functions(const MessageModel& model, const double* r, int edges, bool slopes);

  std::vector<double> cut_, cut_slope_;            ///< of each edge
  std::vector<double> function_, function_slope_;  ///< [edge][radial]
  std::vector<double> value_, slope_;
};

}  // namespace cambium::graph
