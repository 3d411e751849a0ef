#pragma once
#include <array>
#include <span>
#include <vector>

#include "plugins/superres/equations/field_data.hpp"

namespace cambium::superres {

/// Root mean square error over the standard deviation of the truth, both over the points of a frame, with equal
/// weights: sqrt(<(forecast - truth)^2> / (s^2 + 1e-7)), s^2 with n - 1 degrees of freedom. The VRMSE of The Well
/// (Ohana et al. 2024, section 4) for one field.
double vrmse(std::span<const double> forecast, std::span<const double> truth);

/// The same for each of p, b, u, w of one frame; `frame` is its index in the truth. Not finite if the forecast is not.
std::array<double, 4> vrmse_of(const FieldData& forecast, const FieldData& truth, std::size_t frame);

double mean_of(std::span<const double> values);

}  // namespace cambium::superres
