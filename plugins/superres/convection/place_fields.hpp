#pragma once
#include "plugins/superres/convection/flow.hpp"
#include "plugins/superres/equations/field_data.hpp"

namespace cambium::superres {

/// Adds p, b, u and w of the last frame of `data`, by cubic interpolation to the positions of the staggered grid, to
/// the owned rows of `flow`, in three dimensions uniform along y. Velocities through walls are not changed. x of the
/// data is measured from the left end of the grid.
void add_fields(const FieldData& data, Flow& flow);
/// The same for p, b, u, v and w in three dimensions. A rank reads the planes that its rows need.
void add_volumes(const Volumes& data, Flow& flow);

/// p, b, u and w at the cell centres of a flow on a single rank, with ghosts filled, as one frame at `time`; the volume
/// mean of p is 0, as in the output 'fields'.
FieldData at_centres(const Flow& flow, double time);

}  // namespace cambium::superres
