#include "core/plugin/abi.hpp"
#include "core/plugin/registry.hpp"
#include "my_physics.hpp"

namespace cambium::my_physics {

/// Registers all types that a deck can name after loading this plugin.
void register_types(Registry& registry) { registry.add<MyPhysics>("my_physics", "heat on a ring"); }

}  // namespace cambium::my_physics

CAMBIUM_PLUGIN("my_physics", "0.1.0", "your name", "how others should cite you", cambium::my_physics::register_types)
