#include "plugins/graph/bench/graph_epoch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/child.hpp"
#include "core/base/error.hpp"
#include "core/base/timing.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/train/step/optimizers/adam.hpp"
#include "core/train/weights/flat/buffer.hpp"
#include "plugins/graph/datasets/chosen_nodes.hpp"
#include "plugins/graph/graphs/graph_file.hpp"
#include "plugins/graph/graphs/made_graph.hpp"
#include "plugins/graph/graphs/matrices.hpp"
#include "plugins/graph/networks/gcn.hpp"

namespace cambium::graph {

using Json = nlohmann::json;

namespace {

constexpr int checked_epochs = 10;

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// The published network without biases, and its optimizer, alone on this rank.
class Epochs {
 public:
  Epochs(const GraphPtr& graph, std::int64_t hidden, double dropout, Context& context)
      : network_(params(hidden, dropout), context), training_(graph, nodes_with(*graph, Role::training)),
        adam_(decayed(), context) {
    network_.fit_statistics(training_, context);
    layout_ = std::make_unique<train::FlatLayout>(network_.parameters(), std::int64_t{1} << 40);
    weights_ = train::FlatBuffer(*layout_, DType::f32), gradients_ = train::FlatBuffer(*layout_, DType::f32);
    states_ = train::make_states(adam_, *layout_, DType::f32);
    network_.initialise(weights_.views(), 1);
    auto whole = std::make_shared<train::Sample>();
    const auto nodes = std::make_shared<const std::vector<std::int32_t>>(nodes_with(*graph, Role::training));
    whole->storage = make_storage(WholeGraph{graph, nodes, 0, graph->nodes()});
    sample_ = whole;
  }

  /// The loss before the step.
  double epoch() {
    gradients_.zero();
    network_.begin_step(1, steps_);
    train::TermSum loss;
    const double one = 1.0;
    network_.gradient({&sample_, 1}, weights_.views(), {&one, 1}, gradients_.views(), {&loss, 1}, {});
    train::scale(gradients_, 1.0 / loss.count);
    adam_.step({weights_, gradients_, states_, 0.01, ++steps_});
    return loss.sum / loss.count;
  }
  /// Processor time of the fastest epoch within some seconds.
  double fastest(double seconds) {
    double best = 1e300;
    const double end = wall_seconds() + seconds;
    for (int k = 0; k < 5 || wall_seconds() < end; ++k) {
      const double begun = processor_seconds();
      epoch();
      best = std::min(best, processor_seconds() - begun);
    }
    return best;
  }
  std::vector<TensorRef> weights() { return weights_.views(); }

 private:
  static Gcn::Params params(std::int64_t hidden, double dropout) {
    Gcn::Params out;
    out.layers = {hidden}, out.dropout = dropout, out.bias = false;
    return out;
  }
  static train::Adam::Params decayed() {
    train::Adam::Params out;
    out.weight_decay = 5e-4;
    return out;
  }

  Gcn network_;
  ChosenNodes training_;
  train::Adam adam_;
  std::unique_ptr<train::FlatLayout> layout_;
  train::FlatBuffer weights_, gradients_;
  std::vector<train::FlatBuffer> states_;
  train::SamplePtr sample_;
  std::int64_t steps_ = 0;
};

template <class T>
void write_matrix(io::File& file, const std::string& name, const sparse::Csr<T>& a) {
  auto group = file.create_group(name);
  group.write("start", a.start), group.write("column", a.column), group.write("value", a.value);
  group.set_attribute("columns", a.columns);
}

/// What the peer needs to do the same.
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

/// What the peer's script prints; null where there is none, with the reason in the log.
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
  keys.nodes = 2708, keys.classes = 7, keys.degree = 3.9, keys.width = 1433, keys.words = 18;
  return make_graph(keys);
}

Json measure(const BenchOptions& options, Context& context) {
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
    peer = found, theirs = std::min(theirs, found["ms"].get<double>());
  }
  std::filesystem::remove(path);
  Json out = {{"graph", graph->source}, {"nodes", graph->nodes()}, {"edges", graph->edges}, {"hidden", hidden},
              {"turns", turns},         {"ms_epoch", ours},        {"check", "no peer"}};
  if (peer.is_null()) return out;
  double worst = 0.0;
  for (std::size_t k = 0; k < losses.size(); ++k)
    worst = std::max(worst, std::abs(peer["losses"][k].get<double>() / losses[k] - 1.0));
  out["pytorch_ms_epoch"] = theirs, out["ratio_pytorch"] = theirs / ours;
  out["pytorch"] = peer["torch"], out["pytorch_layouts"] = peer["layouts"];
  out["check"] = fmt::format("{}: losses of {} epochs from the same weights differ from PyTorch's by {:.1e}",
                             worst < 1e-4 ? "ok" : "WRONG", checked_epochs, worst);
  return out;
}

}  // namespace

Bench bench_graph_epoch() {
  return {"graph_epoch",
          "an epoch of graph convolutions over a whole graph on one core, beside PyTorch",
          measure,
          {{"graph", "HDF5 file of a graph, or made, one of the size of Cora", "made"},
           {"hidden", "width of the hidden layer", 16},
           {"seconds", "of each measurement", 4.0},
           {"turns", "measurements of both sides, one after the other, of which the fastest of each counts", 3},
           {"peer", "script that times PyTorch", "studies/graph_pytorch.py"}},
          {"seconds=0.5", "turns=1", "peer=none"}};
}

}  // namespace cambium::graph
