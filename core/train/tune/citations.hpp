#pragma once
#include <vector>

#include "core/base/citation.hpp"
#include "core/train/tune/trial.hpp"

namespace cambium::tune {

/// Works that a search by a strategy rests on.
std::vector<Citation> search_citations(Strategy strategy);

}  // namespace cambium::tune
