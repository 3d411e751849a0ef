#include "core/run/node_memory.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/base/error.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/run/sound_checkpoint.hpp"
#include "core/run/summary/stage_files.hpp"

namespace cambium {

namespace fs = std::filesystem;

std::string new_node_memory(std::int64_t steps) {
  std::string folder = "/dev/shm/cambium.XXXXXX";
  if (!::mkdtemp(folder.data()))
    throw InputError(
        "there is no /dev/shm to write to, in which --keep-going keeps copies of the run in memory; mount one (a "
        "container needs --shm-size), or run without --keep-going");
  std::ofstream(fs::path(folder) / "steps") << steps;
  return folder;
}

std::string node_memory() {
  const char* folder = std::getenv(node_memory_variable);
  return folder ? folder : "";
}

std::string node_memory_of(const std::string& stage_folder) {
  const auto memory = node_memory();
  auto name = fs::absolute(stage_folder).lexically_normal().string();
  std::replace(name.begin(), name.end(), '/', '_');
  return memory.empty() ? memory : (fs::path(memory) / name).string();
}

std::optional<std::string> newer_in_memory(std::optional<std::string> on_disk, const Context& context) {
  const auto folder = node_memory_of(context.run_directory);
  if (folder.empty() || !context.resume) return on_disk;
  std::optional<std::string> found;
  try {
    found = newest_sound_checkpoint(folder, context);
  } catch (const InputError& error) {
    context.log.warn(fmt::format("copies in memory are not used: {}", error.what()));
  }
  const bool newer = found && (!on_disk || checkpoint_step(*found) > checkpoint_step(*on_disk));
  return newer ? found : on_disk;
}

std::int64_t require_steps_between_copies(const Comm& comm) {
  std::int64_t steps = 0;
  std::ifstream(fs::path(node_memory()) / "steps") >> steps;
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm.handle(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &node);
  int ranks = 1;
  MPI_Comm_size(node, &ranks);
  MPI_Comm_free(&node);
  if (comm.max(static_cast<int>(steps > 0)) == 0) return 0;
  if (comm.max(comm.size() - ranks) > 0)
    throw InputError(
        "--copy-every keeps copies in the memory of one node, but the ranks run on several; leave it out, and a run "
        "that has lost a rank continues from its newest checkpoint on disk (checkpoint.every)");
  return steps;
}

void note_directory(const std::string& run_directory) {
  const auto memory = node_memory();
  if (memory.empty()) return;
  fs::create_directories(memory);
  io::write_file_atomically((fs::path(memory) / "run_directory").string(), fs::absolute(run_directory).string());
}

std::string noted_directory(const std::string& memory) {
  std::ifstream file(fs::path(memory) / "run_directory");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace cambium
