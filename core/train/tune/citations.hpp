#pragma once
#include <vector>

#include "core/base/citation.hpp"

namespace cambium::tune {

/// Works that a search by aging evolution or by the tree-structured Parzen estimator rests on.
std::vector<Citation> search_citations(bool evolution, bool tpe);

}  // namespace cambium::tune
