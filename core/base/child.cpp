#include "core/base/child.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

extern char** environ;

namespace cambium {

namespace {

/// Open MPI's, MPICH's and Slurm's marks of a rank; Open MPI's leave to run as root is the user's.
bool marks_a_rank(std::string_view variable) {
  if (variable.starts_with("OMPI_ALLOW_RUN_AS_ROOT")) return false;
  for (std::string_view mark : {"OMPI_", "PMIX_", "PMI_", "HYDI_", "SLURM_PROCID", "SLURM_LOCALID"})
    if (variable.starts_with(mark)) return true;
  return false;
}

std::string all_of(int file) {
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(file, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  return text;
}

}  // namespace

std::vector<std::string> environment_of_no_rank() {
  std::vector<std::string> out;
  for (char** variable = environ; *variable; ++variable)
    if (!marks_a_rank(*variable)) out.emplace_back(*variable);
  return out;
}

std::vector<char*> null_ended(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (auto& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

ChildOutput output_of(const std::vector<std::string>& words) {
  ChildOutput out;
  int ends[2];
  if (pipe(ends) != 0) return out;
  std::vector<std::string> arguments = words, variables = environment_of_no_rank();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  pid_t child = 0;
  const bool started = posix_spawnp(&child, arguments.front().c_str(), &actions, nullptr, null_ended(arguments).data(),
                                    null_ended(variables).data()) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (started) {
    out.text = all_of(ends[0]);
    int status = 0;
    if (waitpid(child, &status, 0) == child)
      out.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  close(ends[0]);
  return out;
}

std::optional<std::string> python_with(const std::vector<std::string>& modules) {
  const char* given = std::getenv("CAMBIUM_PYTHON");
  const std::vector<std::string> candidates =
      given ? std::vector<std::string>{given} : std::vector<std::string>{"python3", "/usr/bin/python3"};
  for (const auto& python : candidates) {
    std::vector<std::string> probe{
        python, "-c",
        "import importlib.util, sys; sys.exit(any(importlib.util.find_spec(m) is None for m in sys.argv[1:]))"};
    probe.insert(probe.end(), modules.begin(), modules.end());
    if (output_of(probe).status == 0) return python;
  }
  return std::nullopt;
}

}  // namespace cambium
