#pragma once
#include <vector>

#include "core/base/citation.hpp"

namespace cambium::podlstm {

/// Works that a decomposition rests on.
std::vector<Citation> pod_citations(bool randomized);
/// Works that forecasts and searches rest on.
std::vector<Citation> forecast_citations();
/// Of the linear inverse model, and of the scores of its ensemble.
std::vector<Citation> inverse_model_citations(bool ensemble);
/// Works that a recurrent network of the search space rests on.
std::vector<Citation> network_citations(bool gru);

}  // namespace cambium::podlstm
