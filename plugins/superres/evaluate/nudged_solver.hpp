#pragma once
#include "plugins/superres/evaluate/frame_solver.hpp"

namespace cambium::superres {

/// Baseline that uses only the equations: this plugin's own solver starts from the first coarse frame, interpolated
/// cubically, integrates in time, and adds the cubically interpolated misfit to every later coarse frame when it
/// reaches it (data assimilation by direct insertion; Hoke and Anthes 1976 on nudging). Fields at `places` (t, x, z)
/// depend on the coarse frames up to their own time. A periodic x is that of rayleigh_benard, walls along x are those
/// of cavity. The grid has as many cells as `places` along x and z; if these are the centres of cells from plate to
/// plate, exactly these cells. InputError when the data cannot be such a flow, NumericalError when it does not stay
/// finite.
FieldData nudged(const FieldData& coarse, const std::array<std::vector<double>, 3>& places, const Convected& flow);

}  // namespace cambium::superres
