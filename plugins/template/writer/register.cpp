#include "core/plugin/abi.hpp"
#include "core/plugin/registry.hpp"
#include "my_writer.hpp"

namespace cambium::my_writer {

/// Registers all types that a deck can name after loading this plugin.
void register_types(Registry& registry) {
  registry.add<MyWriter>("my_writer", "number density along an axis of the cell");
}

}  // namespace cambium::my_writer

CAMBIUM_PLUGIN("my_writer", "0.1.0", "your name", "how others should cite you", cambium::my_writer::register_types)
