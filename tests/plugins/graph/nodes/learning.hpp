#pragma once
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "core/plugin/registry.hpp"
#include "core/plugin/task.hpp"
#include "core/run/deck_file.hpp"
#include "core/train/kinds/buffer.hpp"
#include "core/train/register.hpp"
#include "core/train/weights/artifact.hpp"
#include "tests/shared_scratch.hpp"

namespace cambium::graph {

void register_types(Registry& registry);

/// A place to make types and run stages, on the ranks of a communicator; files lie in a folder `name`.
struct Place {
  Comm& comm;
  Log log{nullptr, false};
  Timing timing;
  Registry registry;
  Context context{comm, log, timing};

  Place(Comm& ranks, const std::string& folder) : comm(ranks) {
    train::register_training(registry);
    registry.set_plugin("graph");
    register_types(registry);
    context.registry = &registry;
    context.run_directory = folder;
    if (comm.root()) std::filesystem::create_directories(folder);
    comm.barrier();
  }
  Task::Outcome run(const std::string& task, const std::string& yaml) {
    return registry.make<Task>(task, deck::parse(yaml, "test"), context)->run(context);
  }
  /// Weights of the model that a stage train has written.
  std::vector<double> weights() {
    comm.barrier();
    const auto model = train::load_artifact(context.run_directory + "/model.h5", context);
    if (model.weights.dtype() == DType::f64) return train::packed<double>(model.weights);
    const auto few = train::packed<float>(model.weights);
    return {few.begin(), few.end()};
  }
};

inline const std::string small_graph = "made: {nodes: 120, classes: 3, degree: 5, width: 20, words: 5, training: 6}";

/// A file of CAMBIUM_DATA/graphs; empty, with a reason printed, where there is none.
inline std::string real_graph(const std::string& name) {
  const char* data = std::getenv("CAMBIUM_DATA");
  const std::string path = data ? std::string(data) + "/graphs/" + name : "";
  if (!path.empty() && std::filesystem::exists(path)) return path;
  std::printf("SKIPPED: graph %s: CAMBIUM_DATA names no folder with graphs/%s\n", name.c_str(), name.c_str());
  return "";
}

}  // namespace cambium::graph
