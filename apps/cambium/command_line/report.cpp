#include "apps/cambium/command_line/report.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/base/child.hpp"
#include "core/base/error.hpp"
#include "core/deck/differences.hpp"
#include "core/io/shipped.hpp"
#include "core/run/run_directory.hpp"

extern char** environ;

namespace cambium {

namespace fs = std::filesystem;

int run_program(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) return 127;
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 127;
  return WEXITSTATUS(status);
}

std::string drawing_python() {
  const auto python = python_with({"numpy", "h5py", "matplotlib"});
  if (python) return *python;
  const char* given = std::getenv("CAMBIUM_PYTHON");
  throw InputError(
      fmt::format("no {} with numpy, h5py and matplotlib; install them (Debian: python3-h5py python3-matplotlib) or "
                  "name a Python that has them in CAMBIUM_PYTHON",
                  given ? given : "python3"));
}

static void require_run(const std::string& run) {
  if (!fs::exists(fs::path(run) / "provenance.yaml"))
    throw InputError(fmt::format(
        "'{}' holds no run: there is no provenance.yaml; give the folder named run.directory in the deck", run));
}

/// Runs a script of share/cambium/python that writes a page.
static void write_page(const std::string& program, std::vector<std::string> words, const std::string& page) {
  words.insert(words.begin(), {drawing_python(), shared_folder("python") + "/" + program});
  if (!page.empty()) words.insert(words.end(), {"-o", page});
  if (run_program(words) != 0) throw InputError("the page could not be written; the reason is above");
}

void write_report(const std::string& run, const std::string& page) {
  require_run(run);
  write_page("report.py", {run}, page);
}

void write_sweep_page(const std::string& sweep, const std::string& page) { write_page("sweep_page.py", {sweep}, page); }

void try_sweep_page(const std::string& sweep, Log& log) {
  try {
    write_sweep_page(sweep, "");
  } catch (const InputError& error) {
    log.info(fmt::format("no page: {}; `cambium report {}` writes it later", error.what(), sweep));
  }
}

/// Keys in which the decks differ, with a value for each run, as JSON: [["stages[0].simulate.steps", "20", "40"], ...].
static std::string differing_keys(const std::vector<std::string>& runs, const Registry& registry) {
  const auto deck_of = [&](const std::string& run) { return stored_deck(text_in(run, run_files::deck), registry); };
  const deck::Node first = deck_of(runs[0]);
  std::vector<std::pair<std::string, std::vector<std::string>>> rows;
  for (std::size_t k = 1; k < runs.size(); ++k)
    for (const auto& d : deck::differences(first, deck_of(runs[k]))) {
      if (d.path == "run.directory") continue;
      auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.first == d.path; });
      if (row == rows.end()) row = rows.insert(rows.end(), {d.path, std::vector<std::string>(runs.size(), d.from)});
      row->second[k] = d.to;
    }
  nlohmann::json all = nlohmann::json::array();
  for (const auto& [path, values] : rows) {
    nlohmann::json row = nlohmann::json::array({path});
    for (const auto& value : values) row.push_back(value);
    all.push_back(row);
  }
  return all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void write_comparison(const std::vector<std::string>& runs, const std::string& page, const Registry& registry) {
  for (const auto& run : runs) require_run(run);
  std::vector<std::string> words = runs;
  words.insert(words.end(), {"--differences", differing_keys(runs, registry)});
  write_page("compare_page.py", words, page);
}

}  // namespace cambium
