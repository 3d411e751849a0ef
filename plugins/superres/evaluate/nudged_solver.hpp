#pragma once
#include "plugins/superres/evaluate/frame_solver.hpp"

namespace cambium::superres {

/// The baseline that knows the equations and nothing else: this plugin's own solver starts from the first coarse frame,
/// interpolated cubically, computes on, and adds the cubically interpolated misfit to every later coarse frame as it
/// gets there (data assimilation by direct insertion; Hoke and Anthes 1976 on nudging). Answers at `places` (t, x, z)
/// know the coarse frames up to their own time. A periodic x is that of rayleigh_benard, walls along x are those of
/// cavity. The grid has as many cells as `places` along x and z, and where these are the centres of cells from plate to
/// plate, these cells. InputError when the data cannot be such a flow, NumericalError when it does not stay finite.
FieldData nudged(const FieldData& coarse, const std::array<std::vector<double>, 3>& places, const Convected& flow);

}  // namespace cambium::superres
