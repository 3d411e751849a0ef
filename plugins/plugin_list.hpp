#pragma once

namespace cambium {

class Registry;

/// Registers the types of every plugin of this tree that was built (CMake option CAMBIUM_PLUGIN_<NAME>). The definition
/// is generated: see cambium_add_plugin_list() in core/cmake/CambiumPlugin.cmake.
void register_plugins(Registry& registry);

}  // namespace cambium
