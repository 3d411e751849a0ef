#pragma once
#include <string>
#include <vector>

#include "plugins/superres/equations/field_data.hpp"

namespace cambium::superres {

/// `count` positions that span an axis: including the end points, or equally spaced in index if the axis is periodic.
/// Positions between points of the axis have linearly interpolated coordinates, so any ratio is possible.
std::vector<double> coarse_places(const std::vector<double>& places, int count, bool periodic);

/// Values of all fields at other coordinates of one axis, through the `points` nearest old ones: 2 is linear, 4 cubic.
FieldData resampled(const FieldData& data, int axis, const std::vector<double>& places, int points);

/// Number of samples at every `ratio`-th of n points: n / ratio around a period, (n - 1) / ratio + 1 if both end points
/// are samples, rounded. At least two.
int coarse_count(std::size_t n, double ratio, bool periodic);

/// Coarse samples, every `ratio` points along t, x and z: linear interpolation for positions between points. If the
/// length of the axis is no multiple of the step, the nearest step that fits is used; spacing() returns it.
FieldData coarsened(const FieldData& data, const std::array<double, 3>& ratio);

/// Points of `fine` per sample of `coarse` along t, x and z, as coarsened() made them.
std::array<double, 3> spacing(const FieldData& fine, const FieldData& coarse);
/// Text such as "2 frames and 4 x 3.96 points apart", for the log.
std::string spacing_words(const FieldData& fine, const FieldData& coarse);

}  // namespace cambium::superres
