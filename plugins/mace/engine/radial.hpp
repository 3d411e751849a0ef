#pragma once
#include <vector>

#include "plugins/mace/model/mace_model.hpp"

namespace cambium::mace {

/// Weights of edges from their lengths, with slopes where they are wanted. Keeps its scratch from call to call.
class RadialWeights {
 public:
  /// `r`: lengths (Å) of `edges` edges, all below the cut-off. Fills values()[edge][weight] and, with `slopes`,
  /// slopes()[edge][weight], 1/Å.
  void compute(const MaceModel& model, const RadialNetwork& network, const double* r, int edges, bool slopes);
  const double* values() const { return value_.data(); }
  const double* slopes() const { return slope_.data(); }

 private:
  void inputs(const MaceModel& model, const double* r, int edges, bool slopes);

  std::vector<double> value_, slope_, next_value_, next_slope_;
};

/// The smooth cut-off 1 - (p+1)(p+2)/2 x^p + p(p+2) x^(p+1) - p(p+1)/2 x^(p+2) of x = r / cutoff below 1, and its
/// slope.
void envelope(double r, double cutoff, int p, double& value, double& slope);

}  // namespace cambium::mace
