#include "plugins/graph/networks/node_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/key_error.hpp"
#include "core/numerics/exact_sum.hpp"
#include "core/parallel/random.hpp"
#include "core/plugin/registry.hpp"
#include "plugins/graph/datasets/chosen_nodes.hpp"
#include "plugins/graph/networks/full_batches.hpp"

namespace cambium::graph {

namespace {
constexpr std::int64_t trial_steps = 100;
constexpr std::int64_t most_tried = 20'000'000;  ///< entries of graph and features: trials take minutes
}  // namespace

std::string problem_of(const NodeNetworkParams& p) {
  for (const auto width : p.layers)
    if (width < 1) return fmt::format("layers: a width of {} is none; widths are 1 or more", width);
  for (const auto count : p.fan_out)
    if (count < 1) return fmt::format("fan_out: {} neighbours are none; draw 1 or more", count);
  if (!p.fan_out.empty() && p.fan_out.size() != p.layers.size() + 1)
    return fmt::format("fan_out has {} values for {} layers (the hidden ones and the last)", p.fan_out.size(),
                       p.layers.size() + 1);
  if (p.layers.size() > 30) return fmt::format("layers: {} hidden layers; 30 are the most", p.layers.size());
  return {};
}

NodeNetwork::NodeNetwork(const NodeNetworkParams& params, const char* name, Context& context)
    : params_(params), name_(name), comm_(context.comm) {
  if (params.layout.type.empty()) return;  // created by a program: the default
  layout_ = context.registry->make<sparse::Layout>(params.layout, context)->keys();
  if (params.tiles == NodeNetworkParams::Tiles::off) return;
  if (layout_.scheme != sparse::Scheme::rows && layout_.scheme != sparse::Scheme::needed_rows)
    throw KeyError("node_network.tiles.layout", "tiles",
                   fmt::format("tiles: auto needs complete rows of nodes on a rank, which layout {} does not have; "
                               "take layout: needed_rows, or leave tiles out",
                               sparse::name_of(layout_.scheme)));
  if (layout_.ordered)
    throw KeyError(
        "node_network.tiles.ordered", "tiles",
        "tiles change the order of sums, and 'ordered' guarantees results bitwise identical to one rank; remove one");
}

std::vector<LayerShape> NodeNetwork::layers_of(LayerShape::Kind kind, std::int64_t features,
                                               std::int64_t classes) const {
  std::vector<LayerShape> out;
  std::int64_t in = features;
  for (std::size_t l = 0; l <= params_.layers.size(); ++l) {
    LayerShape layer;
    layer.kind = kind;
    layer.number = static_cast<int>(l);
    layer.bias = params_.bias;
    layer.residual = params_.residual;
    layer.normalised = params_.normalization == NodeNetworkParams::Normalization::layer && l < params_.layers.size();
    layer.in = in;
    layer.out = l < params_.layers.size() ? params_.layers[l] : classes;
    in = layer.out;
    out.push_back(layer);
  }
  return out;
}

EngineShape NodeNetwork::whole_shape(std::int64_t features, std::int64_t classes) const {
  EngineShape shape = shape_of(features, classes);
  shape.network.dropout = params_.dropout;
  shape.sums_to_one = sums_to_one_;
  shape.fan_out = params_.fan_out;
  shape.layout = layout_;
  shape.tiles = params_.tiles == NodeNetworkParams::Tiles::automatic;
  return shape;
}

std::unique_ptr<NodeEngine> NodeNetwork::make_engine_of(const EngineShape& shape, const Comm& comm) const {
  return dtype() == DType::f64 ? make_engine<double>(shape, comm) : make_engine<float>(shape, comm);
}

void NodeNetwork::build(std::int64_t features, std::int64_t classes) {
  features_ = features;
  classes_ = classes;
  const auto shape = whole_shape(features, classes);
  layers_ = shape.network.layers;
  weighing_ = shape.weighing;
  engine_ = make_engine_of(shape, comm_);
}

static std::string not_a_node(const std::string& name) {
  return fmt::format("{} needs nodes of a graph; give a dataset of type graph", name);
}

/// The graph and the node of a sample; InputError if they do not match this network.
static std::pair<GraphPtr, std::int32_t> node_of(const train::Sample& sample, const std::string& name) {
  const auto* nodes = storage_of<NodeSamples>(sample);
  if (!nodes) throw InputError(not_a_node(name));
  return {nodes->graph, nodes->nodes[sample.id]};
}

/// InputError if a network `name` with these numbers of features and classes cannot be applied to a graph.
static void require_fit(const Graph& graph, const std::string& name, std::int64_t features, std::int64_t classes) {
  if (graph.features.columns != features)
    throw InputError(
        fmt::format("{}: nodes have {} features, but this {} reads {}; take a graph with the same features, "
                    "or train on this one",
                    graph.source, graph.features.columns, name, features));
  if (graph.classes > classes)
    throw InputError(
        fmt::format("{}: classes are numbered up to {}, but this {} was trained on {}; take a graph with the same "
                    "classes, or train on this one",
                    graph.source, graph.classes - 1, name, classes));
}

/// Validation accuracy after some training steps of this network on this rank only.
double NodeNetwork::share_when_divided(const GraphPtr& graph, bool divided, Context& context) {
  Comm alone(MPI_COMM_SELF);
  Log silent(nullptr, false);
  Timing timing;
  Context own{alone, silent, timing, context.registry};
  sums_to_one_ = divided;
  build(graph->features.columns, graph->classes);
  auto shape = whole_shape(features_, classes_);
  shape.fan_out.clear();
  engine_ = make_engine_of(shape, alone);
  auto weights = trained_by_full_batches(*this, graph, {.steps = trial_steps}, 1, own);
  const auto judged = classes_of(graph, weights.values.views());
  engine_.reset();
  double right = 0.0;
  const auto nodes = nodes_with(*graph, Role::validation);
  for (const auto node : nodes) right += judged.classes[node] == graph->labels[node] ? 1.0 : 0.0;
  return right / static_cast<double>(nodes.size());
}

/// True if features are divided by their sum. Division removes the magnitude of features that are not counts, and blows
/// up rows that nearly cancel. For counts both are tried; undivided features are used if better by more than the
/// standard error of the accuracy. Collective; logs the result.
bool NodeNetwork::divides_features(const GraphPtr& graph, Context& context) {
  constexpr double large = 100.0;
  auto seen = features_seen(graph->features);
  if (graph->held) {
    seen.counts = comm_.min(seen.counts ? 1.0 : 0.0) > 0.0;
    seen.largest = comm_.max(seen.largest);
  }
  bool divides = params_.sums_to_one.value_or(seen.counts);
  const auto work = graph->weights.entries() + graph->feature_entries;
  const bool tries = divides && !params_.sums_to_one && !graph->held && !context.dry_run && work <= most_tried &&
                     graph->in_role[0] > 0 && graph->in_role[1] > 0;
  if (tries) {
    std::vector<double> shares(2, 0.0);
    for (int k = 0; k < 2; ++k)
      if (k % comm_.size() == comm_.rank()) shares[k] = share_when_divided(graph, k == 0, context);
    comm_.sum(shares);
    const double error = std::sqrt(shares[0] * (1.0 - shares[0]) / static_cast<double>(graph->in_role[1]));
    divides = shares[1] <= shares[0] + error;
    context.log.info(
        fmt::format("{}: {:.4f} of the validation nodes correct with features divided by their sum, {:.4f} as they "
                    "are: {} (sums_to_one: {} omits this trial of {} steps)",
                    name_, shares[0], shares[1], divides ? "divided" : "as they are", divides, trial_steps));
  }
  if (!seen.counts && !params_.sums_to_one)
    context.log.info(
        fmt::format("{}: features are no counts and are taken as they are (sums_to_one: true divides each node's by "
                    "their sum)",
                    name_));
  if (!divides && seen.largest > large)
    context.log.warn(
        fmt::format("{}: features are as large as {:g}, and the network learns best from values of order 1; write them "
                    "with mean 0 and standard deviation 1",
                    graph->source, seen.largest));
  return divides;
}

void NodeNetwork::fit_statistics(train::Dataset& training, Context& context) {
  const std::int64_t first[] = {0};
  const auto graph = node_of(*training.read(first).front(), name_).first;
  if (graph->classes < 2)
    throw InputError(
        fmt::format("{}: nodes have {} class; a classification needs two or more", graph->source, graph->classes));
  graph_ = graph;
  if (graph->splits > 1) split_ = graph->split;
  sums_to_one_ = divides_features(graph, context);
  build(graph->features.columns, graph->classes);
}

std::vector<train::ParameterInfo> NodeNetwork::parameters() const {
  std::vector<train::ParameterInfo> out;
  for (const auto& layer : layers_)
    for (auto& info : parameters_of(layer, params_.decay == NodeNetworkParams::Decay::all || layer.number == 0))
      out.push_back(std::move(info));
  return out;
}

DType NodeNetwork::dtype() const { return params_.precision == Precision::float64 ? DType::f64 : DType::f32; }

/// Uniform within sqrt(6 / (in + out)) (Glorot and Bengio 2010); biases are 0, normalisation gains 1.
template <class T>
static void fill(const train::ParameterInfo& info, std::uint64_t number, std::uint64_t seed, T* w, std::int64_t count) {
  if (info.shape.size() < 2) return static_cast<void>(std::fill_n(w, count, info.name.ends_with("gain") ? T(1) : T(0)));
  const bool scores = info.name.ends_with("hearing") || info.name.ends_with("heard");
  const double in = static_cast<double>(scores ? info.shape[1] : info.shape[0]),
               out = scores ? 1.0 : static_cast<double>(info.shape[1]);
  const double reach = std::sqrt(6.0 / (in + out));
  for (std::int64_t k = 0; k < count; ++k)
    w[k] = static_cast<T>(reach * (2.0 * Random4(seed, Stream::model_weights, static_cast<std::uint64_t>(k / 4), number)
                                             .uniform(static_cast<int>(k % 4)) -
                                   1.0));
}

void NodeNetwork::initialise(std::span<const TensorRef> weights, std::uint64_t seed) {
  const auto infos = parameters();
  for (std::size_t k = 0; k < infos.size(); ++k)
    if (dtype() == DType::f64)
      fill(infos[k], k, seed, static_cast<double*>(weights[k].data), weights[k].elements());
    else
      fill(infos[k], k, seed, static_cast<float*>(weights[k].data), weights[k].elements());
}

std::vector<std::string> NodeNetwork::report() const {
  const auto words = engine_ ? engine_->words() : sparse::Words{};
  std::vector<std::string> out;
  if (engine_)
    for (const auto& line : engine_->tiles()) out.push_back("products with the graph, " + line);
  if (words.messages == 0) return out;
  out.push_back(fmt::format("layout {}: {} values of nodes received in {} messages, {:.3f} MB; waited {:.3f} s",
                            sparse::name_of(layout_.scheme), words.dense, words.messages,
                            1e-6 * static_cast<double>(words.bytes), words.waited));
  return out;
}

std::vector<train::TermInfo> NodeNetwork::terms() const {
  return {{"cross_entropy", "", train::TermInfo::Report::mean}};
}

std::vector<train::TermInfo> NodeNetwork::metrics() const {
  return {{"wrong", "", train::TermInfo::Report::mean}, {"cross_entropy", "", train::TermInfo::Report::mean}};
}

void NodeNetwork::gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                           std::span<const double> term_weights, std::span<const TensorRef> gradients,
                           std::span<train::TermSum> terms, const train::ReadyCallback& ready) {
  if (samples.empty()) return;
  if (!storage_of<WholeGraph>(*samples.front())) node_of(*samples.front(), name_);
  engine_->gradient(samples, weights, term_weights[0], gradients, terms[0]);
  for (int k = static_cast<int>(gradients.size()); ready && k-- > 0;) ready(k);
}

void NodeNetwork::begin_evaluation(train::Dataset& data, std::span<const TensorRef> weights) {
  if (data.size() == 0) return;
  const std::int64_t first[] = {0};
  const auto graph = node_of(*data.read(first).front(), name_).first;
  require_fit(*graph, name_, features_, classes_);
  engine_->begin_evaluation(graph, weights);
}

/// Whether the most probable class is wrong, and the negative log probability of the right one.
static std::array<double, 2> errors_of(const std::vector<double>& scores, std::int32_t label) {
  return {std::max_element(scores.begin(), scores.end()) - scores.begin() == label ? 0.0 : 1.0, -scores[label]};
}

void NodeNetwork::evaluate(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                           std::span<train::TermSum> metrics) {
  for (const auto& sample : samples) {
    const auto [graph, node] = node_of(*sample, name_);
    const auto label = graph->labels[node];
    if (label >= classes_) require_fit(*graph, name_, features_, classes_);
    const auto errors = errors_of(engine_->scores(graph, node, weights), label);
    for (std::size_t k = 0; k < metrics.size(); ++k) {
      metrics[k].sum += errors[k];
      metrics[k].count += 1.0;
    }
  }
}

bool NodeNetwork::evaluate_all(train::Dataset& data, std::span<const TensorRef> weights,
                               std::span<train::TermSum> metrics) {
  const auto all = all_nodes(data, not_a_node(name_));
  if (!all.graph) return false;
  require_fit(*all.graph, name_, features_, classes_);
  const auto own = engine_->begin_evaluation(all.graph, weights);
  std::vector<ExactSum> sums(metrics.size());
  const auto& nodes = *all.nodes;
  for (auto node = std::lower_bound(nodes.begin(), nodes.end(), own.begin); node != nodes.end() && *node < own.end;
       ++node) {
    const auto errors = errors_of(engine_->scores(all.graph, *node, weights), all.graph->labels[*node]);
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k].add(errors[k]);
  }
  ExactSum::over_ranks(sums, comm_);
  for (std::size_t k = 0; k < sums.size(); ++k) metrics[k] = {sums[k].value(), static_cast<double>(nodes.size())};
  return true;
}

std::vector<train::FieldInfo> NodeNetwork::outputs() const { return {{"output", "", {classes_}, DType::f64}}; }

void NodeNetwork::infer(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                        std::span<const TensorRef> outputs) {
  const TensorRef& out = outputs[0];
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const auto [graph, node] = node_of(*samples[s], name_);
    require_fit(*graph, name_, features_, classes_);
    const auto scores = engine_->scores(graph, node, weights);
    for (std::int64_t k = 0; k < classes_; ++k)
      static_cast<double*>(out.data)[static_cast<std::int64_t>(s) * out.stride[0] + k * out.stride[1]] =
          std::exp(scores[k]);
  }
}

train::GraphWork NodeNetwork::graph_work() const {
  train::GraphWork out;
  out.number_bytes = static_cast<int>(size_of(dtype()));
  if (graph_) out.matrix = weighed(*graph_, weighing_);
  out.matrix.start.resize(static_cast<std::size_t>(out.matrix.columns) + 1, out.matrix.entries());
  out.matrix.rows = out.matrix.columns;  // for a partitioned graph, a plan has the rows of this rank
  for (const auto& layer : layers_) out.layers.push_back({layer.in, layer.out * layer.heads, layer.number > 0, false});
  return out;
}

NodeClasses NodeNetwork::classes_of(const GraphPtr& graph, std::span<const TensorRef> weights,
                                    std::vector<float>* probabilities) {
  require_fit(*graph, name_, features_, classes_);
  NodeClasses out{engine_->begin_evaluation(graph, weights), {}};
  for (auto node = out.nodes.begin; node < out.nodes.end; ++node) {
    const auto scores = engine_->scores(graph, static_cast<std::int32_t>(node), weights);
    out.classes.push_back(static_cast<std::int32_t>(std::max_element(scores.begin(), scores.end()) - scores.begin()));
    for (std::int64_t k = 0; probabilities && k < classes_; ++k)
      probabilities->push_back(static_cast<float>(std::exp(scores[k])));
  }
  return out;
}

std::int64_t NodeNetwork::bytes() const { return (graph_ ? graph_->bytes() : 0) + (engine_ ? engine_->bytes() : 0); }

std::string NodeNetwork::state() const {
  return nlohmann::json{
      {"features", features_}, {"classes", classes_}, {"sums_to_one", sums_to_one_}, {"split", split_}}
      .dump();
}

void NodeNetwork::restore(const std::string& state) {
  constexpr std::int64_t most = 100'000'000;
  const auto json = nlohmann::json::parse(state);
  const auto features = json.at("features").get<std::int64_t>(), classes = json.at("classes").get<std::int64_t>();
  if (features < 1 || classes < 2 || features > most || classes > most)
    throw InputError(fmt::format(
        "the state of this {} holds {} features and {} classes, which is invalid; its file is damaged or was changed",
        name_, features, classes));
  sums_to_one_ = json.value("sums_to_one", params_.sums_to_one.value_or(true));  // earlier models always divided
  split_ = json.value("split", std::int64_t{-1});
  build(features, classes);
}

}  // namespace cambium::graph
