#pragma once

namespace cambium {

class Registry;

/// Registers the types of every plugin of this tree that was built (CMake option CAMBIUM_PLUGINS). The definitions are
/// generated: see cambium_add_plugin_list() in core/cmake/CambiumPlugin.cmake.
void register_plugins(Registry& registry);
/// Those, and the training layer where it was built (CMake option CAMBIUM_TRAINING): what the program knows.
void register_everything(Registry& registry);

}  // namespace cambium
