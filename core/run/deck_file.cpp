#include "core/run/deck_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "core/parallel/wall_time.hpp"
#include "core/plugin/registry.hpp"

namespace cambium {

void DeckFile::Run::describe(deck::Describe<Run>& d) {
  d("name", &Run::name, "name of the run").example("copper");
  d("directory", &Run::directory, "directory of all output; default: runs/NAME").def("");
  d("seed", &Run::seed, "seed of the random number generator").at_least(0).def(1);
  d("walltime", &Run::walltime,
    "time after which the run writes a checkpoint and stops: HH:MM:SS, 1-12:00:00, 12h, 90m")
      .def("");
  d("profile", &Run::profile,
    "profile of the time of each stage, in its summary, in profile.json and as a trace in trace.json")
      .def(false);
  d.check([](const Run& run) -> std::string {
    if (run.name == "." || run.name == ".." || run.name.find('/') != std::string::npos)
      return fmt::format("name '{}' is a path: give a word, and the location with 'directory'", run.name);
    if (std::filesystem::path(run.directory).lexically_normal() == "/")
      return "directory '/' is the root of the file system; give a folder of this run, for example runs/NAME";
    return {};
  });
  d.check([](const Run& run) -> std::string {
    if (run.walltime.empty()) return {};
    try {
      parse_wall_time(run.walltime);
      return {};
    } catch (const InputError& error) {
      return error.what();
    }
  });
}

void DeckFile::Sweep::describe(deck::Describe<Sweep>& d) {
  d("over", &Sweep::over,
    "paths of keys, each with its values: [a, b, c], range(first, last, count) or log(first, last, count)")
      .example("{run.seed: [1, 2, 3]}");
  d("zip", &Sweep::zip,
    "pairing of values: the first values of all keys together, then the second ones; false: every combination")
      .def(false);
  d("theory", &Sweep::theory,
    "expected results by name: a formula of the swept keys (by the last part of their paths), or a list with one value "
    "for each value of the first key")
      .def({})
      .example("{nusselt_bottom_mean: 0.14*rayleigh^0.3}");
}

void DeckFile::describe(deck::Describe<DeckFile>& d) {
  d("run", &DeckFile::run, "name, directory and seed of the run");
  d("plugins", &DeckFile::plugins, "names of plugins, or paths of plugin libraries").def({});
  d("stages", &DeckFile::stages, "list of stages, executed in order").keyed();
  d("sweep", &DeckFile::sweep, "a table of runs for `cambium sweep`: this deck with other values of some keys");
}

static std::vector<std::string> numbered(const std::vector<std::string>& types) {
  std::map<std::string, int> seen;
  std::vector<std::string> out;
  for (const auto& type : types) {
    const int n = ++seen[type];
    out.push_back(n == 1 ? type : fmt::format("{}_{}", type, n));
  }
  return out;
}

std::vector<std::string> DeckFile::stage_folders() const {
  std::vector<std::string> types;
  for (const auto& stage : stages) types.push_back(stage.type);
  return numbered(types);
}

std::vector<std::string> stage_folders_of(const deck::Node& stages) {
  std::vector<std::string> types;
  for (const auto& stage : stages.items())
    types.push_back(stage.entries().empty() ? std::string() : stage.entries().front().key);
  return numbered(types);
}

}  // namespace cambium
