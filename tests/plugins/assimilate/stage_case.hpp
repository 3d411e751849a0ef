#pragma once
// The stage `assimilate` from a deck's text.
#include <map>

#include "core/plugin/registry.hpp"
#include "core/plugin/task.hpp"
#include "tests/scratch.hpp"

namespace cambium::assimilate {
void register_types(Registry& registry);
}

namespace cambium::assimilate::test {

using Values = std::map<std::string, double>;

/// A folder, and a registry with this plugin's types.
struct Stage {
  Comm comm;
  Log log;
  Timing timing;
  Registry registry;
  Scratch scratch;
  Context context{comm, log, timing};
  explicit Stage(MPI_Comm communicator = MPI_COMM_WORLD) : comm(communicator) {
    register_types(registry);
    context.registry = &registry;
    context.run_directory = scratch.folder.string();
  }
  Values run(const std::string& deck) {
    const auto task = registry.make<Task>("assimilate", deck::parse(deck, "test"), context);
    task->run(context);
    lines = task->lines();
    Values out;
    for (const auto& result : task->results()) out[result.key] = result.value;
    return out;
  }
  std::vector<std::string> lines;
};

inline Values run(const std::string& deck, MPI_Comm communicator = MPI_COMM_WORLD) {
  return Stage(communicator).run(deck);
}

inline std::string message(const std::string& deck) {
  try {
    run(deck, MPI_COMM_SELF);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace cambium::assimilate::test
