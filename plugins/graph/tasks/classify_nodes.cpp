#include "plugins/graph/tasks/classify_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/text_parts.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/weights/artifact.hpp"
#include "plugins/graph/datasets/chosen_nodes.hpp"
#include "plugins/graph/datasets/graph.hpp"
#include "plugins/graph/networks/node_network.hpp"
#include "plugins/graph/tasks/model_files.hpp"

namespace cambium::graph {

namespace fs = std::filesystem;

void ClassifyNodes::Params::describe(deck::Describe<Params>& d) {
  d("models", &Params::models,
    "model files of stages train; one with a * in its name selects several networks, whose mean is reported")
      .def({})
      .example("[\"{run}/train/model.h5\"]");
  d("dataset", &Params::dataset, "data set graph whose nodes are evaluated");
  d("baselines", &Params::baselines, "baselines: the most frequent class, label_propagation and mlp are evaluated, too")
      .formerly("rivals")
      .def(true);
  d("label_propagation", &Params::label_propagation, "label propagation baseline: classes propagate along edges");
  d("mlp", &Params::mlp, "mlp baseline: networks that use the features of a node and no edges");
}

void ClassifyNodes::examine(Check& check) {
  for (const char* name : {"scores.csv", "nodes.csv"}) check.will_write({name, {Origin::stage, "classify_nodes"}});
  if (!check.stage().tried) return;
  Context& context = check.context();
  context.registry->make<train::Dataset>(params_.dataset, context);
  context.log.info(fmt::format("classes of nodes by {} model file{}{}", params_.models.size(),
                               params_.models.size() == 1 ? "" : "s",
                               params_.baselines ? ", and by baselines that cost little" : ""));
  for (std::size_t k = 0; k < params_.models.size(); ++k)
    if (params_.models[k].find('*') == std::string::npos)
      check.require_written_by(deck::child_path("models", k), params_.models[k], {{Origin::network}});
}

void ClassifyNodes::keep(Judgement judged, const std::string& method, const Split& split) {
  if (!best_method_.empty() && !(judged.validation > best_.validation)) return;
  best_split_ = &split;
  best_ = std::move(judged);
  best_method_ = method;
}

/// Accuracy over all ranks, each with its local part of the nodes.
static double share_right(const Graph& graph, std::span<const std::int32_t> nodes, const NodeClasses& own,
                          const Comm& comm) {
  auto count = count_right(graph, nodes, own);
  count.right = comm.sum(count.right);
  count.all = comm.sum(count.all);
  return count.share();
}

/// Balanced accuracy, the mean over classes of the accuracy for each: 1 / classes for the most frequent class, however
/// unbalanced the classes. Local counts are summed over the ranks of `comm`.
static double mean_over_classes(const Graph& graph, std::span<const std::int32_t> nodes, const NodeClasses& own,
                                const Comm& comm) {
  std::vector<double> count(2 * static_cast<std::size_t>(graph.classes), 0.0);
  for (const auto node : nodes) {
    if (!own.nodes.holds(node)) continue;
    const auto label = static_cast<std::size_t>(graph.labels[node]);
    count[2 * label] += 1.0;
    count[2 * label + 1] += own.classes[node - own.nodes.begin] == static_cast<std::int32_t>(label) ? 1.0 : 0.0;
  }
  comm.sum(count);
  double sum = 0.0, classes = 0.0;
  for (std::size_t k = 0; k < count.size(); k += 2)
    if (count[k] > 0.0) sum += count[k + 1] / count[k], classes += 1.0;
  return sum / classes;
}

/// Metrics of class 1 versus class 0, for a graph with two classes; otherwise NaN. Every rank adds its nodes' scores.
static TwoClassScore score_of(const Graph& graph, std::span<const std::int32_t> nodes, const Judgement& own,
                              const Comm& comm) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  if (graph.classes != 2) return {none, none};
  std::vector<double> scores(nodes.size(), 0.0), ones(nodes.size(), 0.0);  // each rank fills in its own nodes
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    if (!own.nodes.nodes.holds(nodes[k])) continue;
    ones[k] = static_cast<double>(graph.labels[nodes[k]]);
    scores[k] = static_cast<double>(own.probabilities[own.classes * (nodes[k] - own.nodes.nodes.begin) + 1]);
  }
  comm.sum(scores);
  comm.sum(ones);
  const std::vector<std::int32_t> labels(ones.begin(), ones.end());
  return two_class_score(labels, scores);
}

/// This rank's local part of global predictions.
static Judgement own_share(const Judgement& all, const Comm& comm) {
  const auto n = all.nodes.nodes.size(), rank = std::int64_t{comm.rank()}, ranks = std::int64_t{comm.size()};
  const sparse::Range own{n * rank / ranks, n * (rank + 1) / ranks};
  const auto& classes = all.nodes.classes;
  const auto width = all.classes;
  return {{own, {classes.begin() + own.begin, classes.begin() + own.end}},
          all.validation,
          {all.probabilities.begin() + own.begin * width, all.probabilities.begin() + own.end * width},
          width};
}

/// The split with test nodes that were not used to train the network. InputError if it is unknown.
const ClassifyNodes::Split& ClassifyNodes::split_of(const NodeNetwork& network, const std::string& file,
                                                    Log& log) const {
  const auto trained = network.split();
  if (splits_.size() == 1) {
    const auto& graph = *splits_.front().graph;
    if (trained >= 0 && graph.splits > 1 && trained != graph.split)
      log.warn(
          fmt::format("'{}' was trained on split {} and is evaluated on split {}, of which it may have learned "
                      "test nodes; give the same split, or each",
                      file, trained, graph.split));
    return splits_.front();
  }
  if (trained < 0 || trained >= std::ssize(splits_))
    throw KeyError("classify_nodes.models.split", "models",
                   fmt::format("models: '{}' was trained on none of the {} splits of {}; train it with split: each, or "
                               "give the data set its index",
                               file, splits_.size(), splits_.front().graph->source));
  return splits_[trained];
}

ClassifyNodes::Row ClassifyNodes::row_of(const std::string& entry, Context& context) {
  std::vector<std::string> files;
  io::on_root(context.comm, [&] { files_of(entry); });
  files = files_of(entry);
  Row row;
  for (const auto& file : files) {
    auto model = train::load_artifact(file, context);
    auto* network = dynamic_cast<NodeNetwork*>(model.network.get());
    if (!network)
      throw KeyError("classify_nodes.models.type", "models",
                     fmt::format("models: '{}' holds a {}, which gives nodes no class; gcn, graph_sage and "
                                 "graph_attention do",
                                 file, model.info.type));
    const auto& split = split_of(*network, file, context.log);
    const auto& graph = *split.graph;
    train::require_fields(model, file, *split.data);
    Judgement judged;
    judged.classes = network->classes();
    judged.nodes = network->classes_of(split.graph, model.weights.views(), &judged.probabilities);
    judged.validation = share_right(graph, nodes_with(graph, Role::validation), judged.nodes, context.comm);
    row.method = fmt::format("{} ({})", model.info.type, stage_of(entry));
    row.test.push_back(share_right(graph, split.nodes, judged.nodes, context.comm));
    row.by_class.push_back(mean_over_classes(graph, split.nodes, judged.nodes, context.comm));
    row.validation.push_back(judged.validation);
    row.two_classes.push_back(score_of(graph, split.nodes, judged, context.comm));
    keep(std::move(judged), row.method, split);
    for (const auto& citation : model.network->citations()) citations_.push_back(citation);
  }
  return row;
}

/// Distributes the seeds of all splits over ranks.
ClassifyNodes::Row ClassifyNodes::row_of_features(Context& context) const {
  const auto seeds = static_cast<std::size_t>(params_.mlp.seeds), networks = seeds * splits_.size();
  const Comm alone(MPI_COMM_SELF);
  std::vector<double> shares(5 * networks, 0.0);
  for (std::size_t k = 0; k < networks; ++k) {
    if (static_cast<int>(k % static_cast<std::size_t>(context.comm.size())) != context.comm.rank()) continue;
    const auto& split = splits_[k / seeds];
    const auto judged = judge_by_features(split.graph, params_.mlp, context.seed + k % seeds, context);
    shares[k] = count_right(*split.graph, split.nodes, judged.nodes).share();
    shares[networks + k] = judged.validation;
    shares[2 * networks + k] = mean_over_classes(*split.graph, split.nodes, judged.nodes, alone);
    const auto score = score_of(*split.graph, split.nodes, judged, alone);
    shares[3 * networks + k] = score.roc_auc;
    shares[4 * networks + k] = score.average_precision;
  }
  context.comm.sum(shares);
  const auto part = [&](std::size_t k) {
    const auto from = shares.begin() + static_cast<std::ptrdiff_t>(k * networks);
    return std::vector<double>(from, from + static_cast<std::ptrdiff_t>(networks));
  };
  Row row{"features alone (mlp)", part(0), part(1), part(2), {}};
  for (std::size_t k = 0; k < networks; ++k)
    row.two_classes.push_back({shares[3 * networks + k], shares[4 * networks + k]});
  return row;
}

/// Every rank has the classes of all nodes.
ClassifyNodes::Row ClassifyNodes::row_of_baseline(const std::string& method,
                                                  const std::function<Judgement(const Graph&)>& judge,
                                                  Context& context) {
  const Comm alone(MPI_COMM_SELF);
  Row row{method, {}, {}, {}, {}};
  for (const auto& split : splits_) {
    const auto judged = judge(*split.graph);
    row.test.push_back(count_right(*split.graph, split.nodes, judged.nodes).share());
    row.validation.push_back(judged.validation);
    row.by_class.push_back(mean_over_classes(*split.graph, split.nodes, judged.nodes, alone));
    row.two_classes.push_back(score_of(*split.graph, split.nodes, judged, alone));
    if (params_.models.empty()) keep(own_share(judged, context.comm), method, split);
  }
  return row;
}

void ClassifyNodes::write(const std::vector<Row>& rows, Context& context) {
  lines_.push_back(fmt::format("{:<34}{:>10}{:>10}{:>12}{:>10}{:>12}", "accuracy", "test", "+-", "validation",
                               splits_.size() > 1 ? "runs" : "networks", "balanced"));
  std::string scores = "method,test,deviation,validation,networks,by_class,roc_auc,average_precision\n";
  for (const auto& row : rows) {
    const bool several = row.test.size() > 1;
    lines_.push_back(fmt::format("{:<34}{:>10.4f}{:>10}{:>12.4f}{:>10}{:>12.4f}", row.method, mean(row.test),
                                 several ? fmt::format("{:.4f}", deviation(row.test)) : "", mean(row.validation),
                                 row.test.size(), mean(row.by_class)));
    const auto name = key_of(row.method);
    results_.push_back(in_table("test_" + name, "accuracy on test nodes: " + row.method, mean(row.test)));
    results_.push_back(
        in_table("validation_" + name, "accuracy on validation nodes: " + row.method, mean(row.validation)));
    const auto [auc, precision] = means_of(row);
    scores += fmt::format("{},{},{},{},{},{},{},{}\n", row.method, number_text(mean(row.test)),
                          number_text(deviation(row.test)), number_text(mean(row.validation)), row.test.size(),
                          number_text(mean(row.by_class)), number_text(auc), number_text(precision));
  }
  write_two_classes(rows, *splits_.front().graph);
  lines_.push_back("balanced: balanced accuracy, the mean over the classes of the fraction of each that is correct");
  if (splits_.size() > 1)
    lines_.push_back(fmt::format("mean and standard deviation over {} splits of training, validation and test nodes",
                                 splits_.size()));
  lines_.push_back(fmt::format("nodes.csv: classes by {}, the best on the validation nodes{}", best_method_,
                               splits_.size() > 1 ? fmt::format(", split {}", best_split_->graph->split) : ""));
  io::on_root(context.comm,
              [&] { io::write_file_atomically((fs::path(context.run_directory) / "scores.csv").string(), scores); });
  write_nodes(context);
}

/// A separate table: only graphs of two classes have these metrics.
void ClassifyNodes::write_two_classes(const std::vector<Row>& rows, const Graph& graph) {
  if (graph.classes != 2) return;
  lines_.push_back(
      fmt::format("{:<34}{:>10}{:>20}{:>12}", "class 1 against class 0", "ROC AUC", "average precision", "+- ROC AUC"));
  for (const auto& row : rows) {
    const auto [auc, precision] = means_of(row);
    std::vector<double> aucs;
    for (const auto& one : row.two_classes) aucs.push_back(one.roc_auc);
    lines_.push_back(fmt::format("{:<34}{:>10.4f}{:>20.4f}{:>12}", row.method, auc, precision,
                                 aucs.size() > 1 ? fmt::format("{:.4f}", deviation(aucs)) : ""));
    const auto name = key_of(row.method);
    results_.push_back(in_table("roc_auc_" + name, "ROC AUC: " + row.method, auc));
    results_.push_back(in_table("average_precision_" + name, "average precision: " + row.method, precision));
  }
}

TwoClassScore ClassifyNodes::means_of(const Row& row) {
  TwoClassScore out;
  for (const auto& one : row.two_classes) {
    out.roc_auc += one.roc_auc / static_cast<double>(row.two_classes.size());
    out.average_precision += one.average_precision / static_cast<double>(row.two_classes.size());
  }
  return out;
}

/// Written in parts: no rank has the classes of all nodes.
void ClassifyNodes::write_nodes(Context& context) const {
  const auto& graph = *best_split_->graph;
  const auto& own = best_.nodes;
  std::string lines;
  for (const auto node : best_split_->nodes)
    if (own.nodes.holds(node)) {
      const auto at = node - own.nodes.begin;
      lines += fmt::format("{},{},{}", graph.numbering.number(node), graph.labels[node], own.classes[at]);
      for (std::int64_t k = 0; k < best_.classes; ++k)
        lines += fmt::format(",{:.6f}", best_.probabilities[at * best_.classes + k]);
      lines += "\n";
    }
  std::string names = "node,class,predicted";
  for (std::int64_t k = 0; k < best_.classes; ++k) names += fmt::format(",probability_{}", k);
  io::write_text_parts((fs::path(context.run_directory) / "nodes.csv").string(), names + "\n", lines, own.nodes.begin,
                       context.comm);
}

/// The data set, or with `split: each` one for each split of its file.
void ClassifyNodes::open_splits(Context& context) {
  splits_.clear();
  for (std::int64_t k = 0, count = 1; k < count; ++k) {
    Split split;
    split.data = context.registry->make<train::Dataset>(params_.dataset, context);
    auto* graphs = dynamic_cast<GraphSet*>(split.data.get());
    if (graphs) graphs->take_member(static_cast<int>(k));
    split.data->open(context);
    const std::int64_t first[] = {0};
    const auto* samples = storage_of<NodeSamples>(*split.data->read(first).front());
    if (!samples)
      throw KeyError("classify_nodes.dataset.type", "dataset",
                     "classify_nodes evaluates nodes of a graph; give a dataset of type graph");
    split.graph = samples->graph;
    split.nodes = samples->nodes;
    if (graphs && graphs->sees_each_split()) count = split.graph->splits;
    splits_.push_back(std::move(split));
  }
}

Task::Outcome ClassifyNodes::run(Context& context) {
  results_.clear();
  lines_.clear();
  best_ = {};
  best_method_.clear();
  open_splits(context);
  const bool baselines = params_.baselines || params_.models.empty();
  if (splits_.front().graph->held && baselines)
    throw InputError(
        "baselines need the full graph on a rank, and divided: true stores a part on each; give models and baselines: "
        "false, or remove divided");
  std::vector<Row> rows;
  if (baselines) {
    rows.push_back(row_of_baseline("most frequent class", most_frequent, context));
    double alpha = 0.0;
    rows.push_back(row_of_baseline(
        "label propagation",
        [&](const Graph& graph) { return propagate_labels(graph, params_.label_propagation, alpha); }, context));
    if (splits_.size() == 1) rows.back().method += fmt::format(" (alpha {:g})", alpha);
    if (best_method_ == "label propagation") best_method_ = rows.back().method;
    if (params_.mlp.seeds > 0) rows.push_back(row_of_features(context));
  }
  for (const auto& model : params_.models) rows.push_back(row_of(model, context));
  for (const auto& citation : splits_.front().data->citations()) citations_.push_back(citation);
  write(rows, context);
  work_ = {0, "node"};
  for (const auto& split : splits_) work_.items += std::ssize(split.nodes);
  return Outcome::done;
}

}  // namespace cambium::graph
