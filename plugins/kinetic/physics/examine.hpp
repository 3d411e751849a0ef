#pragma once
#include <map>
#include <string>

#include "core/plugin/check.hpp"
#include "plugins/kinetic/physics/vlasov.hpp"

namespace cambium::kinetic {

/// Report of every kinetic physics to `cambium check`: memory, effort, f0 at some points if it is too large to be
/// projected, and unused parameters. Collective.
void examine(const Vlasov& physics, const CommonParams& params, Check& check);

/// Warns of parameters that no formula among the keys of the stage uses.
void warn_of_unused(const std::map<std::string, std::string>& parameters, Check& check);

}  // namespace cambium::kinetic
