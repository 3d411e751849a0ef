#pragma once
#include <map>
#include <string>

#include "core/plugin/check.hpp"
#include "plugins/kinetic/physics/vlasov.hpp"

namespace cambium::kinetic {

/// Report of every kinetic physics to `cambium check`: memory, effort, where f0 is asked for where it is too large to
/// be made, and parameters that nothing uses. Collective.
void examine(const Vlasov& physics, const CommonParams& params, Check& check);

/// Warns of parameters that no formula among the keys of the stage uses.
void warn_of_unused(const std::map<std::string, std::string>& parameters, Check& check);

}  // namespace cambium::kinetic
