#include "core/plugin/loader.hpp"

#include <dlfcn.h>
#if __has_include(<elf.h>)
#include <elf.h>
#endif
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "core/base/build_info.hpp"
#include "core/base/platform.hpp"
#include "core/base/text.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/abi.hpp"

namespace cambium {

namespace fs = std::filesystem;

namespace {

constexpr const char* suffix = ".cambium.so";

/// Folder in which find_package(cambium) finds this Cambium: installed, or its build folder.
std::string package_folder() {
  const fs::path lib = core_library_folder();
  for (const auto& folder : {lib / "cmake" / "cambium", lib.parent_path()})
    if (fs::exists(folder / "cambiumConfig.cmake")) return folder.string();
  return (lib / "cmake" / "cambium").string();
}

bool is_path(const std::string& name) { return name.find('/') != std::string::npos || name.ends_with(".so"); }

/// Paths of the plugins in plugin_folders(), by name; the first folder takes precedence.
std::map<std::string, std::string> libraries_found() {
  std::map<std::string, std::string> out;
  for (const auto& folder : plugin_folders()) {
    std::error_code none;
    for (const auto& file : fs::directory_iterator(folder, none))
      if (const auto base = file.path().filename().string(); base.ends_with(suffix))
        out.emplace(base.substr(0, base.size() - std::string_view(suffix).size()), fs::absolute(file.path()).string());
  }
  return out;
}

std::string not_found(const std::string& name, const std::vector<std::string>& tried, const Registry& registry) {
  std::vector<std::string> known = registry.plugins();
  for (const auto& [found, path] : libraries_found()) known.push_back(found);
  const auto near = nearest(name, known);
  return fmt::format(
      "there is no plugin '{}'{}\nlooked for:\n  {}\nName the path of its library, or its folder in "
      "CAMBIUM_PLUGIN_PATH.",
      name, near ? fmt::format("; did you mean '{}'?", *near) : "", join(tried, "\n  "));
}

std::string find_library(const std::string& name, const Registry& registry) {
  if (is_path(name)) {
    if (!fs::is_regular_file(name)) throw InputError(fmt::format("there is no plugin library '{}'", name));
    return fs::absolute(name).string();
  }
  std::vector<std::string> tried;
  for (const auto& folder : plugin_folders()) {
    tried.push_back((fs::path(folder) / (name + suffix)).string());
    if (fs::is_regular_file(tried.back())) return fs::absolute(tried.back()).string();
  }
  if (const auto why = registry.elsewhere("plugin", name); !why.empty())
    throw InputError(fmt::format("'{}' {}", name, why));
  throw InputError(not_found(name, tried, registry));
}

std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

/// The ABI tag among the constants of a library, so that none of its code has to run; empty if none.
std::string abi_tag_in(const std::string& bytes) {
  const auto begin = bytes.find(CAMBIUM_ABI_MARKER);
  return begin == std::string::npos ? "" : bytes.substr(begin, bytes.find('\0', begin) - begin);
}

/// True for an ELF library whose end is missing: dlopen would not fail but crash on it.
bool is_cut_short([[maybe_unused]] const std::string& bytes) {
#if __has_include(<elf.h>)
  Elf64_Ehdr head;
  if (!bytes.starts_with(ELFMAG) || bytes.size() < sizeof head) return false;
  std::memcpy(&head, bytes.data(), sizeof head);
  return head.e_shoff + std::uint64_t(head.e_shnum) * head.e_shentsize > bytes.size();
#else
  return false;
#endif
}

std::string plugin_name(const std::string& path) {
  const auto base = fs::path(path).filename().string();
  return base.substr(0, base.find('.'));
}

std::string rebuild() {
  return fmt::format("Rebuild it: cmake -B build -S <its source> -Dcambium_DIR={} && cmake --build build",
                     package_folder());
}

void check_abi(const std::string& path, std::string_view tag) {
  const std::string who = fmt::format("plugin '{}'", plugin_name(path));
  if (tag.empty()) throw InputError(fmt::format("{} is not a plugin of Cambium: it has no ABI tag ({})", who, path));
  const auto difference = abi_difference(tag, abi_tag.text);
  if (difference.empty()) return;
  throw InputError(
      fmt::format("{} was built for another Cambium and is not loaded ({})\n{}{}", who, path, difference, rebuild()));
}

const PluginDescriptor& open_plugin(const std::string& path) {
  if (!build_info().kokkos_shared)
    throw InputError(
        fmt::format("plugin '{}' cannot be loaded: this program holds a static Kokkos, of which the plugin would bring "
                    "a second copy; build Kokkos with -DBUILD_SHARED_LIBS=ON, and Cambium with it",
                    plugin_name(path)));
  const std::string bytes = read_bytes(path);
  if (is_cut_short(bytes))
    throw InputError(fmt::format("plugin '{}' is cut short, copy or build it again ({})", plugin_name(path), path));
  check_abi(path, abi_tag_in(bytes));
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw InputError(fmt::format("plugin '{}' cannot be loaded: {}", plugin_name(path), dlerror()));
  const auto* plugin = static_cast<const PluginDescriptor*>(dlsym(library, "cambium_plugin"));
  if (!plugin)
    throw InputError(
        fmt::format("plugin '{}' has no CAMBIUM_PLUGIN(...) in its sources ({})", plugin_name(path), path));
  if (plugin->struct_size != sizeof(PluginDescriptor))
    throw InputError(fmt::format("plugin '{}' describes itself in {} bytes, this program expects {} ({})\n{}",
                                 plugin_name(path), plugin->struct_size, sizeof(PluginDescriptor), path, rebuild()));
  check_abi(path, plugin->abi);
  return *plugin;
}

}  // namespace

std::string reason_for_distrust(const std::string& library) {
  std::error_code ignored;
  const fs::path file = fs::absolute(library), folder = file.parent_path();
  const auto open = [&](const fs::path& path, bool sticky_helps) {
    const auto rights = fs::status(path, ignored).permissions();
    if (ignored || (rights & fs::perms::others_write) == fs::perms::none) return false;
    return !sticky_helps || (rights & fs::perms::sticky_bit) == fs::perms::none;
  };
  // In a sticky folder only its owner replaces a file.
  for (const auto& [path, found] : {std::pair{file, open(file, false)}, std::pair{folder, open(folder, true)}})
    if (found)
      return fmt::format(
          "everybody may write to '{}', and with it change what runs in your name; take that right away: chmod o-w "
          "'{}'",
          path.string(), path.string());
  return {};
}

std::vector<std::string> plugin_folders() {
  std::vector<std::string> out;
  if (const char* list = std::getenv("CAMBIUM_PLUGIN_PATH")) {
    std::stringstream folders(list);
    for (std::string folder; std::getline(folders, folder, ':');)
      if (!folder.empty()) out.push_back(folder);
  }
  out.push_back((fs::path(core_library_folder()) / "cambium" / "plugins").string());
  return out;
}

std::vector<std::pair<std::string, std::string>> abi_fields(std::string_view tag) {
  if (tag.starts_with(CAMBIUM_ABI_MARKER)) tag.remove_prefix(std::string_view(CAMBIUM_ABI_MARKER).size());
  std::vector<std::pair<std::string, std::string>> out;
  while (!tag.empty()) {
    const auto end = std::min(tag.find(';'), tag.size());
    const auto field = trim(tag.substr(0, end));
    const auto equals = std::min(field.find('='), field.size());
    out.emplace_back(field.substr(0, equals), field.substr(std::min(equals + 1, field.size())));
    tag.remove_prefix(std::min(end + 1, tag.size()));
  }
  return out;
}

std::string abi_difference(std::string_view plugin, std::string_view program) {
  if (plugin == program) return {};
  const auto theirs = abi_fields(plugin), ours = abi_fields(program);
  const auto value = [](const auto& fields, const std::string& name) -> std::string {
    for (const auto& field : fields)
      if (field.first == name) return field.second;
    return "not stated";
  };
  std::vector<std::string> names;
  for (const auto* side : {&ours, &theirs})
    for (const auto& field : *side)
      if (std::find(names.begin(), names.end(), field.first) == names.end()) names.push_back(field.first);
  std::string out;
  for (const auto& name : names) {
    const auto a = value(theirs, name), b = value(ours, name);
    out += a == b ? fmt::format("  {}: {}\n", name, a)
                  : fmt::format("  {}: {} in the plugin, {} in this program <- differs\n", name, a, b);
  }
  return out;
}

PluginInfo load_plugin(const std::string& name, Registry& registry, const Comm& comm) {
  std::string path;
  io::on_root(comm, [&] { path = find_library(name, registry); });
  comm.broadcast(path);
  const PluginDescriptor* plugin = nullptr;
  io::on_every_rank(comm, [&] { plugin = &open_plugin(path); });
  const auto present = registry.plugins();
  if (std::find(present.begin(), present.end(), plugin->name) != present.end())
    throw InputError(fmt::format("there is a plugin '{}' already; {} is not loaded", plugin->name, path));
  const std::string before = registry.plugin();
  registry.set_plugin(plugin->name);
  plugin->register_types(registry);
  registry.set_plugin(before);
  return {plugin->name, plugin->version, plugin->author, plugin->citation, path};
}

std::vector<PluginInfo> load_plugins(const std::vector<std::string>& names, Registry& registry, const Comm& comm) {
  std::vector<PluginInfo> out;
  for (const auto& name : names) {
    const auto present = registry.plugins();
    if (std::find(present.begin(), present.end(), name) == present.end())
      out.push_back(load_plugin(name, registry, comm));
  }
  return out;
}

std::vector<std::string> load_found_plugins(Registry& registry, const Comm& comm) {
  std::string list;
  if (comm.root())
    for (const auto& [name, path] : libraries_found()) list += name + "\n" + path + "\n";
  comm.broadcast(list);
  std::istringstream in(list);
  std::vector<std::string> reasons;
  for (std::string name, path; std::getline(in, name) && std::getline(in, path);) {
    const auto present = registry.plugins();
    if (std::find(present.begin(), present.end(), name) != present.end()) continue;
    if (const auto distrust = reason_for_distrust(path); !distrust.empty())
      reasons.push_back(fmt::format("plugin '{}': {}", name, distrust));
    try {
      load_plugin(path, registry, comm);
    } catch (const InputError& error) {
      reasons.push_back(error.what());
    }
  }
  return reasons;
}

}  // namespace cambium
