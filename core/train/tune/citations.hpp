#pragma once
#include <vector>

#include "core/base/citation.hpp"
#include "core/train/tune/trial.hpp"

namespace cambium::tune {

/// Publications of a search strategy.
std::vector<Citation> search_citations(Strategy strategy);

}  // namespace cambium::tune
