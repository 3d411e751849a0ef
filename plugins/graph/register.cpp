// Everything that a deck can name from this plugin.
#include "core/plugin/registry.hpp"

namespace cambium::graph {

void register_types(Registry&) {}

}  // namespace cambium::graph
