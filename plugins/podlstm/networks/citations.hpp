#pragma once
#include <vector>

#include "core/base/citation.hpp"

namespace cambium::podlstm {

/// Publications used by a decomposition.
std::vector<Citation> pod_citations(bool randomized);
/// Publications used by forecasts and searches.
std::vector<Citation> forecast_citations();
/// Publications of the linear inverse model, and of the scores of its ensemble.
std::vector<Citation> inverse_model_citations(bool ensemble);
/// Publications used by a recurrent network of the search space.
std::vector<Citation> network_citations(bool gru);

}  // namespace cambium::podlstm
