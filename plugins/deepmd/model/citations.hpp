#pragma once
#include <vector>

#include "core/base/citation.hpp"
#include "plugins/deepmd/model/model.hpp"

namespace cambium::deepmd {

/// Works that every Deep Potential rests on, trained or run.
std::vector<Citation> model_citations();
/// With those of its descriptors.
std::vector<Citation> model_citations(const DeepPotentialModel& model);

}  // namespace cambium::deepmd
