#pragma once
#include <array>
#include <string>
#include <vector>

#include "plugins/superres/equations/equation.hpp"
#include "plugins/superres/equations/field_data.hpp"
#include "plugins/superres/equations/stencil.hpp"

namespace cambium::superres {

/// Points that a mask hides, (x, z) of one instant or (t, x, z): 1 where hidden. Empty where nothing is.
using Hidden = std::vector<char>;

/// Puts smooth numbers where points are hidden, whatever stood there: layer by layer the mean of the neighbours along x
/// and z that are known. Samples between hidden and other points stay near the flow. InputError when a frame is hidden
/// whole.
void fill_hidden(FieldData& data);

/// Values hidden at other positions: that of the nearest point along every axis.
Hidden hidden_at(const FieldData& data, const std::array<std::vector<double>, 3>& places);

/// Points of one frame, (x, z), at which one of these derivatives looks at a hidden point, and hidden ones. Empty where
/// nothing is hidden.
Hidden touched(const std::vector<Derivative>& derivatives, const FieldData& data, int t);

/// InputError when no point was left to judge `what` at, which is text for the message.
void require_judged(double weight, const FieldData& data, const std::string& what);

}  // namespace cambium::superres
