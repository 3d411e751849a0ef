#include "plugins/graph/tasks/classify_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/networks/artifact/artifact.hpp"
#include "plugins/graph/datasets/chosen_nodes.hpp"
#include "plugins/graph/networks/node_network.hpp"
#include "plugins/graph/tasks/model_files.hpp"

namespace cambium::graph {

namespace fs = std::filesystem;

void ClassifyNodes::Params::describe(deck::Describe<Params>& d) {
  d("models", &Params::models,
    "model files of stages train; one with a * in its name stands for several networks, whose mean is shown")
      .def({})
      .example("[\"{run}/train/model.h5\"]");
  d("dataset", &Params::dataset, "the nodes that are judged, of a data set graph");
  d("rivals", &Params::rivals, "judge by the most frequent class, by label_propagation and by mlp, too").def(true);
  d("label_propagation", &Params::label_propagation, "classes that spread along edges");
  d("mlp", &Params::mlp, "networks that see the features of a node and no edge");
}

void ClassifyNodes::check(Context& context) {
  context.registry->make<train::Dataset>(params_.dataset, context);
  context.log.info(fmt::format("classes of nodes by {} model file{}{}", params_.models.size(),
                               params_.models.size() == 1 ? "" : "s",
                               params_.rivals ? ", and by rivals that cost little" : ""));
}

void ClassifyNodes::examine(Check& check) {
  for (const char* name : {"scores.csv", "nodes.csv"}) check.will_write({name, "stage classify_nodes"});
  for (const auto& model : params_.models)
    if (model.find('*') == std::string::npos) check.require_written_by(model, {"network *"});
}

void ClassifyNodes::keep(const Judgement& judged, const std::string& method) {
  if (!best_.classes.empty() && !(judged.validation > best_.validation)) return;
  best_ = judged, best_method_ = method;
}

ClassifyNodes::Row ClassifyNodes::row_of(const std::string& entry, const GraphPtr& graph, train::Dataset& nodes,
                                         Context& context) {
  std::vector<std::string> files;
  io::on_root(context.comm, [&] { files_of(entry); });
  files = files_of(entry);
  Row row;
  for (const auto& file : files) {
    auto model = train::load_artifact(file, context);
    auto* network = dynamic_cast<NodeNetwork*>(model.network.get());
    if (!network)
      throw InputError(
          fmt::format("models: '{}' holds a {}, which gives nodes no class; gcn, graph_sage and "
                      "graph_attention do",
                      file, model.info.type));
    train::require_fields(model.info, file, nodes);
    network->begin_evaluation(nodes, model.weights.views());
    Judgement judged{network->classes_of(graph, model.weights.views()), 0.0};
    judged.validation = accuracy(*graph, nodes_with(*graph, Role::validation), judged.classes);
    row.method = fmt::format("{} ({})", model.info.type, stage_of(entry));
    row.test.push_back(accuracy(*graph, nodes_, judged.classes)), row.validation.push_back(judged.validation);
    keep(judged, row.method);
    for (const auto& citation : model.network->citations()) citations_.push_back(citation);
  }
  return row;
}

/// Ranks take the seeds in turn.
ClassifyNodes::Row ClassifyNodes::row_of_features(const GraphPtr& graph, Context& context) const {
  const auto seeds = static_cast<std::size_t>(params_.mlp.seeds);
  std::vector<double> shares(2 * seeds, 0.0);
  for (std::size_t k = 0; k < seeds; ++k) {
    if (static_cast<int>(k % static_cast<std::size_t>(context.comm.size())) != context.comm.rank()) continue;
    const auto judged = judge_by_features(graph, params_.mlp, context.seed + k, context);
    shares[k] = accuracy(*graph, nodes_, judged.classes), shares[seeds + k] = judged.validation;
  }
  context.comm.sum(shares);
  const auto half = shares.begin() + static_cast<std::ptrdiff_t>(seeds);
  return {"features alone (mlp)", {shares.begin(), half}, {half, shares.end()}};
}

void ClassifyNodes::write(const std::vector<Row>& rows, const Graph& graph, Context& context) {
  lines_.push_back(fmt::format("{:<34}{:>10}{:>10}{:>12}{:>10}", "share of nodes that are right", "test", "+-",
                               "validation", "networks"));
  std::string scores = "method,test,deviation,validation,networks\n";
  for (const auto& row : rows) {
    const bool several = row.test.size() > 1;
    lines_.push_back(fmt::format("{:<34}{:>10.4f}{:>10}{:>12.4f}{:>10}", row.method, mean(row.test),
                                 several ? fmt::format("{:.4f}", deviation(row.test)) : "", mean(row.validation),
                                 row.test.size()));
    scores += fmt::format("{},{},{},{},{}\n", row.method, number_text(mean(row.test)), number_text(deviation(row.test)),
                          number_text(mean(row.validation)), row.test.size());
  }
  std::string nodes = "node,class,predicted\n";
  for (const auto node : nodes_)
    nodes += fmt::format("{},{},{}\n", node, graph.labels[static_cast<std::size_t>(node)],
                         best_.classes[static_cast<std::size_t>(node)]);
  lines_.push_back(fmt::format("nodes.csv: classes by {}, the best on the validation nodes", best_method_));
  io::on_root(context.comm, [&] {
    io::write_file_atomically((fs::path(context.run_directory) / "scores.csv").string(), scores);
    io::write_file_atomically((fs::path(context.run_directory) / "nodes.csv").string(), nodes);
  });
}

Task::Outcome ClassifyNodes::run(Context& context) {
  lines_.clear(), best_ = {};
  const auto data = context.registry->make<train::Dataset>(params_.dataset, context);
  data->open(context);
  const std::int64_t first[] = {0};
  const auto* samples = storage_of<NodeSamples>(*data->read(first).front());
  if (!samples) throw InputError("classify_nodes judges nodes of a graph; give a dataset of type graph");
  const GraphPtr graph = samples->graph;
  nodes_ = samples->nodes;
  std::vector<Row> rows;
  const auto add = [&](const Judgement& judged, const std::string& method) {
    rows.push_back({method, {accuracy(*graph, nodes_, judged.classes)}, {judged.validation}});
    if (params_.models.empty()) keep(judged, method);
  };
  if (graph->held && (params_.rivals || params_.models.empty()))
    throw InputError(
        "rivals want the whole graph on a rank, and divided: true leaves a part on each; give models and rivals: "
        "false, "
        "or remove divided");
  if (params_.rivals || params_.models.empty()) {
    add(most_frequent(*graph), "most frequent class");
    double alpha = 0.0;
    const auto spread = propagate_labels(*graph, params_.label_propagation, alpha);
    add(spread, fmt::format("label propagation (alpha {:g})", alpha));
    if (params_.mlp.seeds > 0) rows.push_back(row_of_features(graph, context));
  }
  for (const auto& model : params_.models) rows.push_back(row_of(model, graph, *data, context));
  for (const auto& citation : data->citations()) citations_.push_back(citation);
  write(rows, *graph, context);
  work_ = {std::ssize(nodes_), "node"};
  return Outcome::done;
}

}  // namespace cambium::graph
