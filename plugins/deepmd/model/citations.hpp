#pragma once
#include <vector>

#include "core/base/citation.hpp"
#include "plugins/deepmd/model/model.hpp"

namespace cambium::deepmd {

/// Publications to cite for every Deep Potential, in training or inference.
std::vector<Citation> model_citations();
/// Adds those of the model's descriptors.
std::vector<Citation> model_citations(const DeepPotentialModel& model);

}  // namespace cambium::deepmd
