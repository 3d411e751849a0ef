#pragma once
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/plugin/registry.hpp"
#include "core/plugin/task.hpp"
#include "tests/shared_scratch.hpp"

namespace cambium::podlstm {

void register_types(Registry& registry);

/// Runs stages of a deck in a folder of their own.
struct Stage {
  Comm comm;
  Log log;
  Timing timing;
  Registry registry;
  SharedScratch scratch{comm};
  Context context{comm, log, timing};

  Stage() {
    register_types(registry);
    context.registry = &registry;
    context.run_directory = scratch.folder;
  }
  Task::Outcome run(const std::string& task, const std::string& yaml) {
    return registry.make<Task>(task, deck::parse(yaml, "test"), context)->run(context);
  }
  std::string message(const std::string& task, const std::string& yaml) {
    try {
      run(task, yaml);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }
  std::string file(const std::string& name) const { return scratch.file(name); }
};

/// The file of the authors' coefficients and of ERSSTv5; empty, with a reason printed, where there is none.
inline std::string anchor_file() {
  const char* data = std::getenv("CAMBIUM_DATA");
  const std::string path = data ? std::string(data) + "/sst/podlstm_anchor.h5" : "";
  if (!path.empty() && std::filesystem::exists(path)) return path;
  std::printf("SKIPPED: sea-surface temperatures: CAMBIUM_DATA names no folder with sst/podlstm_anchor.h5\n");
  return "";
}

}  // namespace cambium::podlstm
