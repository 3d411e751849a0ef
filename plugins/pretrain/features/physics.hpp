#pragma once
#include "plugins/pretrain/archive/augment.hpp"
#include "plugins/pretrain/features/matrix.hpp"

namespace cambium::pretrain {

/// Physical features for comparison: of every channel its mean, standard deviation, and means over eight slabs across
/// each axis that is not periodic; means of products of two channels (fluxes, for example the heat flux of the Nusselt
/// number); and log10 of the power at wave numbers 0 to 15 along each axis, averaged over the others. Rows of `fields`
/// have `shape`.
Matrix physics_features(const Matrix& fields, const FieldShape& shape);

}  // namespace cambium::pretrain
