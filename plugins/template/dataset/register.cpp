#include "core/plugin/abi.hpp"
#include "core/plugin/registry.hpp"
#include "my_dataset.hpp"

namespace cambium::my_dataset {

/// Everything that a deck can name once this plugin is loaded.
void register_types(Registry& registry) { registry.add<MyDataset>("my_dataset", "columns of a text table as samples"); }

}  // namespace cambium::my_dataset

CAMBIUM_PLUGIN("my_dataset", "0.1.0", "your name", "how others should cite you", cambium::my_dataset::register_types)
