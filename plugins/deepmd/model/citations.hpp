#pragma once
#include <vector>

#include "core/base/citation.hpp"

namespace cambium::deepmd {

/// Works that every Deep Potential rests on, trained or run.
std::vector<Citation> model_citations();

}  // namespace cambium::deepmd
