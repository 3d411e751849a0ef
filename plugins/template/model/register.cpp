#include "core/plugin/abi.hpp"
#include "core/plugin/registry.hpp"
#include "my_model.hpp"

namespace cambium::my_model {

/// Everything that a deck can name once this plugin is loaded.
void register_types(Registry& registry) {
  registry.add<MyModel>("my_model", "network of radial basis functions, for one number");
}

}  // namespace cambium::my_model

CAMBIUM_PLUGIN("my_model", "0.1.0", "your name", "how others should cite you", cambium::my_model::register_types)
