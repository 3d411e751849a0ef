#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/parallel/context.hpp"

/// A folder in the memory of each node (/dev/shm) that outlives the ranks of a run: `cambium run --keep-going` creates
/// it, starts the ranks with its name in their environment, and removes it. Restarted ranks read the copies stored
/// there.
namespace cambium {

constexpr const char* node_memory_variable = "CAMBIUM_NODE_MEMORY";

/// Creates a uniquely named folder for copies every `steps` steps; 0 for none. InputError if the system has no writable
/// /dev/shm.
std::string new_node_memory(std::int64_t steps);
/// The folder of this run; empty if no supervisor started it.
std::string node_memory();

/// Folder for the copies of a stage; empty if no supervisor started this run.
std::string node_memory_of(const std::string& stage_folder);

/// Collective: the newest copy of the stage's checkpoint in memory if it is newer than the one on disk, else the
/// latter. Damaged copies are skipped with a warning.
std::optional<std::string> newer_in_memory(std::optional<std::string> on_disk, const Context& context);

/// Collective: steps between two copies, as set by the supervisor; 0 for none. InputError if there are to be any and
/// the ranks run on several nodes, each of which sees its own memory only.
std::int64_t require_steps_between_copies(const Comm& comm);

/// For the supervisor: records the run directory, once it holds a run that can be resumed.
void note_directory(const std::string& run_directory);
/// The recorded directory; empty if there is none.
std::string noted_directory(const std::string& memory);

}  // namespace cambium
