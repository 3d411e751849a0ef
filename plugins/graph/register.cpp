// Everything that a deck can name from this plugin.
#include "core/plugin/registry.hpp"
#include "plugins/graph/layouts.hpp"

namespace cambium::graph {

void register_types(Registry& registry) { register_layouts(registry); }

}  // namespace cambium::graph
