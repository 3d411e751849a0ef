#pragma once
#include <vector>

#include "core/base/citation.hpp"

namespace cambium::podlstm {

/// Works that a decomposition rests on.
std::vector<Citation> pod_citations(bool randomized);
/// Works that forecasts and searches rest on.
std::vector<Citation> forecast_citations();
/// Works that a recurrent network of the search space rests on.
std::vector<Citation> network_citations(bool gru);

}  // namespace cambium::podlstm
