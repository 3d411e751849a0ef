#pragma once
#include <string>

#include "core/parallel/context.hpp"
#include "core/plugin/cost.hpp"
#include "plugins/superres/convection/convection.hpp"

namespace cambium::superres {

/// Cost of the steps of convection. Ranks have slabs of full rows: two neighbours, whose rows of cells are the surface.
/// The ends of slabs are coupled in three stages of two solutions each: in two dimensions by joins on as many levels as
/// the logarithm of the ranks, in three by equal parts of the columns, whose bytes do not grow with the ranks.
class ConvectionCost : public Cost {
 public:
  /// `scalars` in addition to u, w, b, p, and v in three dimensions. Not periodic: rows are transformed with their
  /// mirror images.
  ConvectionCost(const ConvectionKeys& keys, bool periodic, int scalars = 0)
      : keys_(keys), periodic_(periodic), fields_((keys.spatial() ? 5 : 4) + scalars) {}
  std::string summary() const override;
  std::string item() const override { return "cell"; }
  double items() const override {
    return static_cast<double>(keys_.nx()) * (keys_.spatial() ? keys_.ny() : 1) * keys_.nz();
  }
  StepCost of(int ranks, double times) const override;

 private:
  ConvectionKeys keys_;
  bool periodic_;
  int fields_;
};

/// Cost of the physics with that Setup (ConvectionPhysics).
template <class Setup, bool periodic>
class ConvectionCostOf : public ConvectionCost {
 public:
  using Params = typename Setup::Params;
  ConvectionCostOf(const Params& params, Context&) : ConvectionCost(params, periodic) {}
};

}  // namespace cambium::superres
