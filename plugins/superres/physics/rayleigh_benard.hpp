#pragma once
#include "plugins/superres/convection/convection_physics.hpp"

namespace cambium::superres {

/// A layer between a warm plate below (b = 1/2) and a cold one above (b = -1/2), periodic along x and, in three
/// dimensions, along y.
class PlatesSetup {
 public:
  struct Params : ConvectionKeys {
    double width = 2.0;
    std::optional<double> depth;
    Wall plates = Wall::no_slip;
    static void describe(deck::Describe<Params>& d);
  };
  explicit PlatesSetup(const Params& params) : params_(params) {}
  std::string name() const { return "rayleigh_benard"; }
  Grid grid() const;
  Fluid fluid() const;
  std::vector<Observable> observables() const;
  void measure(const Means& means, std::span<double> values) const;
  std::vector<Result> results(const Means& means, const TimeAverages& averages) const;

 private:
  /// sqrt(Ra Pr), the reciprocal of the diffusivity.
  double peclet() const;
  Params params_;
};

using RayleighBenard = ConvectionPhysics<PlatesSetup>;

}  // namespace cambium::superres
