#pragma once
#include <cstdint>
#include <vector>

#include "core/deck/describe.hpp"
#include "plugins/superres/equations/field_data.hpp"

namespace cambium::superres {

/// Classes of a point: 0 background, 1 a warm plume, 2 a cold one.
inline constexpr int plume_classes = 3;

/// Criterion for a plume, after the two conditions of Huang et al. (2013): the temperature deviates from the mean of
/// its height, and there is a heat flux. The multiples are of root mean squares over all points and frames.
struct PlumeRule {
  double temperature = 1.0, flux = 1.0;
  static void describe(deck::Describe<PlumeRule>& d);
};

/// (t, x, z): deviation of a field from its mean over t and x at each height. Masked points have 0.
std::vector<double> anomaly(const FieldData& data, std::size_t field);

/// (t, x, z): the class of each point of data with the fields b and w. With T = anomaly of b and F = w T, a plume has F
/// > flux rms(F) and |T| > temperature rms(T); it is warm if T > 0. InternalError without those fields.
std::vector<std::uint8_t> plumes_of(const FieldData& data, const PlumeRule& rule);

}  // namespace cambium::superres
