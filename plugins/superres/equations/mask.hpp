#pragma once
#include <array>
#include <string>
#include <vector>

#include "plugins/superres/equations/equation.hpp"
#include "plugins/superres/equations/field_data.hpp"
#include "plugins/superres/equations/stencil.hpp"

namespace cambium::superres {

/// Points that a mask hides, (x, z) of one snapshot or (t, x, z): 1 where hidden. Empty if none are.
using Hidden = std::vector<char>;

/// Fills hidden points with smooth values, whatever the file has there: layer by layer the mean of the known neighbours
/// along x and z, so that samples between hidden and other points stay close to the flow. InputError when an entire
/// frame is hidden.
void fill_hidden(FieldData& data);

/// Hidden flags at other positions: that of the nearest point along every axis.
Hidden hidden_at(const FieldData& data, const std::array<std::vector<double>, 3>& places);

/// Points of one frame, (x, z), at which the stencil of one of these derivatives contains a hidden point, and hidden
/// points. Empty if none are hidden.
Hidden touched(const std::vector<Derivative>& derivatives, const FieldData& data, int t);

/// InputError if no point is left to evaluate `what`, which is text for the message.
void require_judged(double weight, const FieldData& data, const std::string& what);

}  // namespace cambium::superres
