#pragma once
#include <array>
#include <string>
#include <vector>

#include "plugins/superres/convection/stepper.hpp"
#include "plugins/superres/equations/field_data.hpp"
#include "plugins/superres/equations/stated_flow.hpp"

namespace cambium::superres {

/// Properties of the data that the solver must know to solve their equations.
struct Convected {
  double rayleigh = 0.0, prandtl = 1.0;
  Wall plates = Wall::no_slip;
};

/// The same as a file states it; a cavity (not `periodic`) has no choice of plates.
StatedFlow stated_by(const Convected& flow, bool periodic);

/// Grid with as many cells as `places` along x and z; if these are the centres of cells from plate to plate, exactly
/// these cells.
Grid grid_of(const FieldData& data, const std::array<std::vector<double>, 3>& places);
/// The fluid of rayleigh_benard, or, if x is not periodic, of cavity.
Fluid fluid_of(const Convected& flow, bool periodic);
/// One frame of all fields.
FieldData frame_of(const FieldData& data, std::size_t t);

/// This plugin's solver on one rank, started from frames at cell centres and read at them.
class FrameSolver {
 public:
  static constexpr double longest_step = 0.05;

  /// Coordinates along x are measured from `left`, the left end of the first cell. `name`: used in messages.
  FrameSolver(const Grid& grid, const Fluid& fluid, double left, double time, std::string name);
  /// Adds p, b, u and w of a frame to the flow, interpolated cubically, and makes the velocity divergence-free.
  void add(FieldData increment);
  FieldData now();
  /// Adds the difference between a coarse frame and the flow.
  void insert(FieldData frame);
  /// NumericalError when the flow does not stay finite.
  void advance(double until);

 private:
  Comm comm_;
  Stepper stepper_;
  double left_, time_;
  std::string name_;
};

}  // namespace cambium::superres
