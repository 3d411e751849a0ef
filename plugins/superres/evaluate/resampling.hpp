#pragma once
#include <vector>

#include "plugins/superres/equations/field_data.hpp"

namespace cambium::superres {

/// `count` places that span an axis: end points included, or equally spaced in index where the axis is periodic. Places
/// between points of the axis lie at linearly interpolated coordinates, so any ratio will do.
std::vector<double> coarse_places(const std::vector<double>& places, int count, bool periodic);

/// Values of all fields at other coordinates of one axis, through the `points` nearest old ones: 2 is linear, 4 cubic.
FieldData resampled(const FieldData& data, int axis, const std::vector<double>& places, int points);

/// Coarse samples, every `ratio` points along t, x and z: linear interpolation where a place lies between points.
FieldData coarsened(const FieldData& data, const std::array<double, 3>& ratio);

}  // namespace cambium::superres
