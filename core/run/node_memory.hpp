#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/parallel/context.hpp"

/// A folder in the memory of each node (/dev/shm) that outlives the ranks of a run: `cambium run --keep-going` makes
/// it, starts the ranks with its name in their environment, and removes it. What they put there is read when they are
/// started again.
namespace cambium {

constexpr const char* node_memory_variable = "CAMBIUM_NODE_MEMORY";

/// Makes a folder with a name of its own, for copies every so many steps; 0 for none. InputError where the system has
/// no /dev/shm to write to.
std::string new_node_memory(std::int64_t steps);
/// The folder of this run; empty where no supervisor started it.
std::string node_memory();

/// Where a stage keeps its copies; empty where no supervisor started this run.
std::string node_memory_of(const std::string& stage_folder);

/// Collective: the newest copy of the stage's checkpoint in memory where it is newer than the one on disk, which is
/// given back otherwise. Copies that are damaged are passed over with a warning.
std::optional<std::string> newer_in_memory(std::optional<std::string> on_disk, const Context& context);

/// Collective: steps between two copies, as the supervisor was told; 0 for none. InputError when there are to be any
/// and the ranks run on several nodes, of which each sees its own memory alone.
std::int64_t require_steps_between_copies(const Comm& comm);

/// For the supervisor: the run directory, once it holds a run that can be gone on with.
void note_directory(const std::string& run_directory);
/// Empty when none was noted.
std::string noted_directory(const std::string& memory);

}  // namespace cambium
