#include "core/plugin/abi.hpp"
#include "core/plugin/registry.hpp"
#include "my_pair.hpp"

namespace cambium::my_pair {

/// Registers all types that a deck can name after loading this plugin.
void register_types(Registry& registry) {
  registry.add<MyPair>("my_pair", "pair potential of Morse's form, for one species");
}

}  // namespace cambium::my_pair

CAMBIUM_PLUGIN("my_pair", "0.1.0", "your name", "how others should cite you", cambium::my_pair::register_types)
