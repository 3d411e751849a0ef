#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/plugin/registry.hpp"

namespace cambium {

/// Description of a loaded plugin.
struct PluginInfo {
  std::string name, version, author, citation;
  std::string path;  ///< of its library
};

/// Loads a plugin and lets it register its types. Collective: rank 0 decides which file it is. `name` is a path (it
/// contains a '/' or ends in ".so"), or a word for which NAME.cambium.so is searched in the folders of
/// CAMBIUM_PLUGIN_PATH and in cambium/plugins next to the core library. No code of a plugin built for another ABI is
/// run. The library stays loaded until the program ends, because objects of its types may live that long. Throws
/// InputError.
PluginInfo load_plugin(const std::string& name, Registry& registry, const Comm& comm);

/// The same for the list of a deck; names of plugins that are part of the program are skipped.
std::vector<PluginInfo> load_plugins(const std::vector<std::string>& names, Registry& registry, const Comm& comm);

/// Collective: loads every NAME.cambium.so of plugin_folders(), the first of a name, so that its types can be listed
/// and documented. One that cannot be loaded is left out; returns the reasons, a text each.
std::vector<std::string> load_found_plugins(Registry& registry, const Comm& comm);

/// Reason why a library may have been tampered with: it or its folder is world-writable. Empty otherwise.
std::string reason_for_distrust(const std::string& library);

/// Folders searched for plugins, in order.
std::vector<std::string> plugin_folders();

/// "cambium-abi: a=1; b=2" as pairs.
std::vector<std::pair<std::string, std::string>> abi_fields(std::string_view tag);

/// One line per field of two ABI tags; fields that differ show both sides. Empty when the tags are equal.
std::string abi_difference(std::string_view plugin, std::string_view program);

}  // namespace cambium
