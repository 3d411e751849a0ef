#pragma once
#include <vector>

#include "core/plugin/potential.hpp"

namespace cambium::podlstm {

/// Works that a decomposition rests on.
std::vector<Citation> pod_citations(bool randomized);
/// Works that forecasts and searches rest on.
std::vector<Citation> forecast_citations();

}  // namespace cambium::podlstm
