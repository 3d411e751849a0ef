#pragma once
#include "plugins/deepmd/deep_potential/deep_potential.hpp"

namespace cambium::deepmd {

/// The committee whose disagreement is measured: the potential itself, or the first one among the terms of a sum; null
/// when there is none. Shared by dynamics and by the selection of configurations to label.
DeepPotential* find_committee(Potential& potential);

}  // namespace cambium::deepmd
