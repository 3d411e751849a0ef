#include "core/driver/command_line/report.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "core/base/child.hpp"
#include "core/base/error.hpp"
#include "core/io/run/shipped.hpp"

extern char** environ;

namespace cambium {

namespace fs = std::filesystem;

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

void write_report(const std::string& run, const std::string& page) {
  if (!fs::exists(fs::path(run) / "provenance.yaml"))
    throw InputError(fmt::format(
        "'{}' holds no run: there is no provenance.yaml; give the folder named run.directory in the deck", run));
  const auto python = python_with({"numpy", "h5py", "matplotlib"});
  if (!python) {
    const char* given = std::getenv("CAMBIUM_PYTHON");
    throw InputError(
        fmt::format("no {} with numpy, h5py and matplotlib; install them (Debian: python3-h5py python3-matplotlib) or "
                    "name a Python that has them in CAMBIUM_PYTHON",
                    given ? given : "python3"));
  }
  std::vector<std::string> words = {*python, shared_folder("python") + "/report.py", run};
  if (!page.empty()) words.insert(words.end(), {"-o", page});
  if (run_program(words) != 0) throw InputError("the page could not be written; the reason stands above");
}

}  // namespace cambium
