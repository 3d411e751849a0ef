#pragma once
#include "plugins/superres/convection/flow.hpp"
#include "plugins/superres/equations/field_data.hpp"

namespace cambium::superres {

/// Adds p, b, u and w of the last frame of `data`, by cubic interpolation to the places of the staggered grid, to the
/// owned rows of `flow`, in three dimensions the same at all y. Velocities through walls stay as they are. x of the
/// data counts from the left end of the grid.
void add_fields(const FieldData& data, Flow& flow);
/// The same of p, b, u, v and w in three dimensions. A rank reads the planes that its rows need.
void add_volumes(const Volumes& data, Flow& flow);

/// p, b, u and w at the centres of the cells of a flow that one rank has whole, with ghosts filled, as one frame at
/// `time`; the mean of p over the volume is 0, as in the output 'fields'.
FieldData at_centres(const Flow& flow, double time);

}  // namespace cambium::superres
