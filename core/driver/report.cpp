#include "core/driver/report.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "core/base/error.hpp"

extern char** environ;

namespace cambium {

namespace fs = std::filesystem;

std::string shared_folder(const std::string& name) {
  return (fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "share/cambium" / name).string();
}

/// Exit status of a program; 127 when it cannot be started. No shell sees the words.
static int run_program(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) return 127;
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 127;
  return WEXITSTATUS(status);
}

static std::string python_with_packages() {
  const char* given = std::getenv("CAMBIUM_PYTHON");
  const std::vector<std::string> candidates =
      given ? std::vector<std::string>{given} : std::vector<std::string>{"python3", "/usr/bin/python3"};
  const std::string probe =
      "import importlib.util, sys; sys.exit(any(importlib.util.find_spec(m) is None for m in ('numpy', 'h5py', 'matplotlib')))";
  for (const auto& python : candidates)
    if (run_program({python, "-c", probe}) == 0) return python;
  throw InputError(fmt::format("no {} with numpy, h5py and matplotlib; install them (Debian: python3-h5py "
                               "python3-matplotlib) or name a Python that has them in CAMBIUM_PYTHON", candidates.front()));
}

void write_report(const std::string& run, const std::string& page) {
  if (!fs::exists(fs::path(run) / "provenance.yaml"))
    throw InputError(fmt::format("'{}' holds no run: there is no provenance.yaml; give the folder named run.directory in "
                                 "the deck", run));
  std::vector<std::string> words = {python_with_packages(), shared_folder("python") + "/report.py", run};
  if (!page.empty()) words.insert(words.end(), {"-o", page});
  if (run_program(words) != 0) throw InputError("the page could not be written; the reason stands above");
}

}  // namespace cambium
