#pragma once
#include <fstream>
#include <map>
#include <sstream>

#include "core/plugin/registry.hpp"
#include "core/plugin/task.hpp"
#include "core/train/register.hpp"
#include "tests/shared_scratch.hpp"

namespace cambium::graph {
void register_types(Registry&);
void register_training(Registry&);

namespace testing {

/// Runs stages of a deck on the ranks of a communicator, in a folder of their own.
struct Stages {
  Comm comm;
  SharedScratch scratch{comm};
  Log log;
  Timing timing;
  Registry registry;
  Context context{comm, log, timing, &registry, 5, ".", "", "", nullptr, false, false};

  explicit Stages(MPI_Comm on = MPI_COMM_WORLD) : comm(on) {
    train::register_training(registry);
    registry.set_plugin("graph");
    register_types(registry);
    register_training(registry);
  }
  /// {run} in the keys is the folder.
  void run(const std::string& task, std::string keys, const std::string& folder) {
    for (std::size_t at; (at = keys.find("{run}")) != std::string::npos;) keys.replace(at, 5, scratch.folder);
    context.run_directory = scratch.file(folder);
    if (comm.root()) std::filesystem::create_directories(context.run_directory);
    comm.barrier();
    registry.make<Task>(task, deck::parse(keys, "test"), context)->run(context);
  }
  /// Mean absolute error by method, of a stage molecule_energies.
  std::map<std::string, double> errors(const std::string& folder) const {
    std::ifstream in(scratch.file(folder) + "/scores.csv");
    std::map<std::string, double> out;
    std::string line;
    for (std::getline(in, line); std::getline(in, line);) {
      const auto comma = line.find(',');
      out[line.substr(0, comma)] = std::stod(line.substr(comma + 1));
    }
    return out;
  }
};

}  // namespace testing
}  // namespace cambium::graph
