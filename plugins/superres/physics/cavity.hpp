#pragma once
#include "plugins/superres/convection/convection_physics.hpp"

namespace cambium::superres {

/// A square cavity with a warm left wall (b = 1/2), a cold right wall (b = -1/2) and adiabatic plates; no slip on all
/// walls. The benchmark of de Vahl Davis 1983.
class CavitySetup {
 public:
  struct Params : ConvectionKeys {
    static void describe(deck::Describe<Params>& d);
  };
  explicit CavitySetup(const Params& params) : params_(params) {}
  std::string name() const { return "cavity"; }
  Grid grid() const;
  Fluid fluid() const;
  std::vector<Observable> observables() const;
  void measure(const Means& means, std::span<double> values) const;
  std::vector<Result> results(const Means& means, const TimeAverages& averages) const;

 private:
  double peclet() const;
  Params params_;
};

using Cavity = ConvectionPhysics<CavitySetup>;

}  // namespace cambium::superres
