#include "core/plugin/late_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/platform.hpp"
#include "core/base/text.hpp"
#include "core/plugin/bench.hpp"
#include "core/plugin/registry.hpp"

namespace cambium {

using AddTypes = void (*)(Registry&);

/// "network 'conv_net' and network 'unet'"
static std::string types_of(const LateLibrary& library) {
  std::vector<std::string> out;
  for (const auto& [kind, name, doc] : library.types) out.push_back(fmt::format("{} '{}'", kind, name));
  return out.empty() ? "benches" : join(out, " and ");
}

/// Loads a library, for good, and returns its function. InputError if it cannot be loaded or lacks the function.
static AddTypes open_late(const LateLibrary& library) {
  const std::string path = (std::filesystem::path(core_library_folder()) / library.file).string();
  // Local symbols and lazy binding, as for a linked library.
  void* opened = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!opened) {
    const std::string reason = dlerror();
    throw InputError(
        fmt::format("the library of {} cannot be loaded: {}\n`ldd {}` lists what it misses: install that, or build and "
                    "install Cambium again",
                    types_of(library), reason, path));
  }
  const auto add_types = reinterpret_cast<AddTypes>(dlsym(opened, library.function.c_str()));
  if (!add_types)
    throw InputError(
        fmt::format("the library of {} is not of this Cambium, it has no '{}': build and install Cambium "
                    "again ({})",
                    types_of(library), library.function, path));
  return add_types;
}

void Registry::add_later(LateLibrary library) {
  late_.push_back(std::make_unique<Late>(Late{*this, std::move(library), benches_->size()}));
  for (const auto& [kind, name, doc] : late_.back()->library.types) {
    deck::TypeEntry entry;
    entry.kind = kind;
    entry.name = name;
    entry.doc = doc;
    entry.plugin = late_.back()->library.plugin;
    insert(std::move(entry), {});
    types_.back()->later = late_.back().get();
  }
}

void Registry::Late::load() {
  if (loaded) return;
  const AddTypes add_types = open_late(library);
  loaded = true;
  auto& benches = *registry.benches_;
  const std::size_t tools = registry.commands_.size(), before = benches.size();
  const std::string plugin = registry.plugin();
  registry.set_plugin(library.plugin);
  registry.loading_ = this;
  add_types(registry);
  registry.loading_ = nullptr;
  registry.set_plugin(plugin);
  for (const auto& type : registry.types_)
    if (type->later == this && !type->factory)
      throw InternalError(fmt::format("{} does not add {} '{}', which its CMakeLists.txt names", library.file,
                                      type->entry.kind, type->entry.name));
  for (const auto& [kind, name, doc] : library.types)
    if (const auto* entry = registry.find(kind, name); !doc.empty() && entry->doc != doc)
      throw InternalError(fmt::format("{} describes {} '{}' as '{}', and was listed with: '{}'", library.file, kind,
                                      name, entry->doc, doc));
  if (registry.commands_.size() != tools)
    throw InternalError(
        fmt::format("{} adds a tool, which is unknown to the command line until the library is loaded; "
                    "add it with the types that are always there",
                    library.file));
  // Benches are listed as if they had been added with the declaration.
  const auto first = benches.begin();
  std::rotate(first + static_cast<std::ptrdiff_t>(bench), first + static_cast<std::ptrdiff_t>(before), benches.end());
  bool behind = false;
  for (const auto& other : registry.late_) {
    if (behind) other->bench += benches.size() - before;
    behind = behind || other.get() == this;
  }
}

void Registry::load_kind(std::string_view kind) const {
  for (const auto& late : late_) {
    const auto& types = late->library.types;
    if (std::any_of(types.begin(), types.end(), [&](const auto& type) { return type.kind == kind; })) late->load();
  }
}

}  // namespace cambium
