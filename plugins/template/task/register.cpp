#include "core/plugin/abi.hpp"
#include "core/plugin/registry.hpp"
#include "my_task.hpp"

namespace cambium::my_task {

/// Registers all types that a deck can name after loading this plugin.
void register_types(Registry& registry) {
  registry.add<MyTask>("my_task", "mean of a table's column with its standard error");
}

}  // namespace cambium::my_task

CAMBIUM_PLUGIN("my_task", "0.1.0", "your name", "how others should cite you", cambium::my_task::register_types)
