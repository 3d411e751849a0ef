#include "core/plugin/abi.hpp"
#include "core/plugin/registry.hpp"
#include "my_dataset.hpp"

namespace cambium::my_dataset {

/// Registers all types that a deck can name after loading this plugin.
void register_types(Registry& registry) { registry.add<MyDataset>("my_dataset", "columns of a text table as samples"); }

}  // namespace cambium::my_dataset

CAMBIUM_PLUGIN("my_dataset", "0.1.0", "your name", "how others should cite you", cambium::my_dataset::register_types)
