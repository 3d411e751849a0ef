#include "core/plugin/abi.hpp"
#include "core/plugin/registry.hpp"
#include "my_network.hpp"

namespace cambium::my_network {

/// Registers all types that a deck can name after loading this plugin.
void register_types(Registry& registry) {
  registry.add<MyNetwork>("my_network", "network of radial basis functions, for one value");
}

}  // namespace cambium::my_network

CAMBIUM_PLUGIN("my_network", "0.1.0", "your name", "how others should cite you", cambium::my_network::register_types)
