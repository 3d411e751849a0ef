#include "bench/graph/graph_epoch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "bench/graph/epochs.hpp"
#include "core/base/child.hpp"
#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/graph/datasets/chosen_nodes.hpp"
#include "plugins/graph/graphs/graph_file.hpp"
#include "plugins/graph/graphs/made_graph.hpp"
#include "plugins/graph/graphs/matrices.hpp"

namespace cambium::graph {

using Json = nlohmann::json;

namespace {

constexpr int checked_epochs = 10;

template <class T>
void write_matrix(io::File& file, const std::string& name, const sparse::Csr<T>& a) {
  auto group = file.create_group(name);
  group.write("start", a.start);
  group.write("column", a.column);
  group.write("value", a.value);
  group.set_attribute("columns", a.columns);
}

/// Writes the input of the reference script.
void write_problem(const std::string& path, const Graph& graph, Epochs& epochs) {
  io::File file = io::File::create(path);
  write_matrix(file, "matrix", weighed(graph, Weighing::symmetric));
  write_matrix(file, "features", divided_by_row_sums(graph.features));
  file.write("labels", graph.labels);
  file.write("nodes", nodes_with(graph, Role::training));
  int k = 0;
  for (const auto& w : epochs.weights()) file.write(fmt::format("weights/{}", k++), w);
  file.set_attribute("epochs", checked_epochs);
  file.close();
}

/// Output of the reference script; null if there is none, with the reason in the log.
Json run_peer(const std::string& script, const std::string& file, double seconds, Context& context) {
  if (!std::filesystem::exists(script))
    return context.log.info(fmt::format("no peer: '{}' is not there (peer=PATH)", script)), Json();
  const auto python = python_with({"torch", "h5py"});
  if (!python)
    return context.log.info("no peer: there is no python3 with torch and h5py (CAMBIUM_PYTHON names one)"), Json();
  const ChildOutput peer = output_of({"env", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", *python, script, file,
                                      "--seconds", fmt::format("{}", seconds)});
  if (peer.status == 0) return Json::parse(peer.text);
  return context.log.info(fmt::format("no peer: {} ended with exit code {}", script, peer.status)), Json();
}

GraphPtr graph_of(const std::string& name) {
  if (name != "made") return read_graph(name);
  MadeGraph keys;  // of Cora's size
  keys.nodes = 2708;
  keys.classes = 7;
  keys.degree = 3.9;
  keys.width = 1433;
  keys.words = 18;
  return make_graph(keys);
}

/// Over all ranks, in wall time: waiting for other ranks counts.
Json measure_mesh(const BenchOptions& options, Context& context) {
  const auto graph = mesh_graph(options.integer("nodes"));
  Epochs epochs(graph, options.integer("hidden"), 0.5, context);
  const double ms = 1e3 * epochs.fastest(options.number("seconds"));
  std::vector<double> losses;
  for (int k = 0; k < 2; ++k) losses.push_back(epochs.epoch());
  return {{"graph", graph->source},
          {"nodes", graph->nodes()},
          {"edges", graph->edges},
          {"ms_epoch", ms},
          {"epochs_per_s", 1e3 / ms},
          {"hidden", options.integer("hidden")},
          {"check", fmt::format("{}: the loss falls, {:.6f} to {:.6f}", losses[1] < losses[0] ? "ok" : "WRONG",
                                losses[0], losses[1])}};
}

Json measure(const BenchOptions& options, Context& context) {
  if (options.text("graph") == "mesh") return measure_mesh(options, context);
  const auto graph = graph_of(options.text("graph"));
  const int hidden = options.integer("hidden"), turns = std::max(1, options.integer("turns"));
  const double seconds = options.number("seconds");
  Comm self(MPI_COMM_SELF);
  Log quiet(nullptr, false);
  Context alone{self, quiet, context.timing, context.registry};
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("cambium-bench-graph-{}.h5", ::getpid())).string();
  Epochs plain(graph, hidden, 0.0, alone), timed(graph, hidden, 0.5, alone);
  write_problem(path, *graph, plain);
  std::vector<double> losses;
  for (int k = 0; k < checked_epochs; ++k) losses.push_back(plain.epoch());
  double ours = 1e300, theirs = 1e300;
  Json peer;
  for (int turn = 0; turn < turns; ++turn) {  // a machine that other work slows for a while slows both
    ours = std::min(ours, 1e3 * timed.fastest(seconds));
    const Json found = run_peer(options.text("peer"), path, seconds, context);
    if (found.is_null()) break;
    peer = found;
    theirs = std::min(theirs, found["ms"].get<double>());
  }
  std::filesystem::remove(path);
  Json out = {{"graph", graph->source}, {"nodes", graph->nodes()}, {"edges", graph->edges}, {"hidden", hidden},
              {"turns", turns},         {"ms_epoch", ours},        {"check", "no peer"}};
  if (peer.is_null()) return out;
  double worst = 0.0;
  for (std::size_t k = 0; k < losses.size(); ++k)
    worst = std::max(worst, std::abs(peer["losses"][k].get<double>() / losses[k] - 1.0));
  out["pytorch_ms_epoch"] = theirs;
  out["ratio_pytorch"] = theirs / ours;
  out["pytorch"] = peer["torch"];
  out["pytorch_layouts"] = peer["layouts"];
  out["check"] = fmt::format("{}: losses of {} epochs from the same weights differ from PyTorch's by {:.1e}",
                             worst < 1e-4 ? "ok" : "WRONG", checked_epochs, worst);
  return out;
}

}  // namespace

Bench bench_graph_epoch() {
  return {"graph_epoch",
          "an epoch of graph convolutions over a whole graph on one core, beside PyTorch; of a mesh over all ranks",
          measure,
          {{"graph", "HDF5 file of a graph, made: one of the size of Cora, or mesh: over all ranks, without a peer",
            "made"},
           {"nodes", "of mesh", 1000000},
           {"hidden", "width of the hidden layer", 16},
           {"seconds", "of each measurement", 4.0},
           {"turns", "measurements of both sides, one after the other, of which the fastest of each counts", 3},
           {"peer", "script that times PyTorch", "studies/graph_pytorch.py"}},
          {"seconds=0.5", "turns=1", "peer=none"}};
}

}  // namespace cambium::graph
