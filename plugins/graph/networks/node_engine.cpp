#include "plugins/graph/networks/node_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "plugins/graph/layers/blocks.hpp"
#include "plugins/graph/layers/weights_hash.hpp"
#include "plugins/graph/tiles/hybrid.hpp"

namespace cambium::graph {

using sparse::Scheme;

namespace {

/// A graph in the form used by layers: this rank's rows, or all of them.
template <class T>
struct Bound {
  GraphPtr graph;
  bool alone = true;
  std::int64_t first = 0, last = 0;
  std::unique_ptr<Spread<T>> spread;
  bool sparse = true;
  Csr<T> features, dropped;         ///< of these rows
  std::vector<T> numbers, changed;  ///< the same in dense form, if features are not sparse

  Rows<const T> dense() const { return {numbers.data(), features.rows, features.columns, features.columns}; }
  /// Features, with dropout in training.
  Input<T> input(double rate, const Draws& draws) {
    const bool drops = draws.training && rate > 0.0;
    if (sparse && drops) drop_out(features, dropped, *spread, rate, draws);
    if (sparse) return {drops ? &dropped : &features, {}};
    if (!drops) return {nullptr, dense()};
    changed.resize(numbers.size());
    const Rows<T> out{changed.data(), features.rows, features.columns, features.columns};
    drop_out(dense(), out, *spread, rate, draws);
    return {nullptr, out};
  }
};

/// Contiguous rows of features.
template <class T>
std::vector<T> without_gaps(const Csr<T>& rows) {
  std::vector<T> out(rows.rows * rows.columns, T(0));
  for (std::int64_t i = 0; i < rows.rows; ++i) {
    const auto columns = rows.columns_of(i);
    for (std::size_t e = 0; e < columns.size(); ++e) out[i * rows.columns + columns[e]] = rows.values_of(i)[e];
  }
  return out;
}

/// Logarithms of the softmax of a row.
template <class T>
std::vector<double> log_softmax(const T* row, std::int64_t n) {
  double peak = -std::numeric_limits<double>::infinity(), sum = 0.0;
  for (std::int64_t k = 0; k < n; ++k) peak = std::max(peak, static_cast<double>(row[k]));
  for (std::int64_t k = 0; k < n; ++k) sum += std::exp(static_cast<double>(row[k]) - peak);
  std::vector<double> out;
  for (std::int64_t k = 0; k < n; ++k) out.push_back(static_cast<double>(row[k]) - peak - std::log(sum));
  return out;
}

template <class T>
class Engine : public NodeEngine {
 public:
  Engine(const EngineShape& shape, const Comm& comm) : shape_(shape), comm_(comm), pass_(shape.network) {}

  void begin_step(std::uint64_t seed, std::int64_t step) override {
    draws_ = {true, seed, step};
    computed_ = evaluating_ = false;
    for (auto& b : bound_) b->spread->begin_step(seed, step);
  }
  void gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights, double factor,
                std::span<const TensorRef> gradients, train::TermSum& loss) override;
  sparse::Range begin_evaluation(const GraphPtr& graph, std::span<const TensorRef> weights) override;
  std::vector<double> scores(const GraphPtr& graph, std::int32_t node, std::span<const TensorRef> weights) override;
  sparse::Words words() const override;
  std::int64_t bytes() const override;
  std::vector<std::string> tiles() const override {
    std::vector<std::string> out;
    for (const auto& b : bound_)
      for (const auto& line : b->spread->tiles()) out.push_back(line);
    return out;
  }

 private:
  Bound<T>& bind(const GraphPtr& graph, bool alone);
  void require_held(const Graph& graph, bool alone) const;
  std::vector<Spread<T>*> every_layer(Spread<T>& spread) const {
    return std::vector<Spread<T>*>(shape_.network.layers.size(), &spread);
  }
  void compute_whole(const WholeGraph& part, std::span<const TensorRef> weights, double factor);
  void gradient_of_nodes(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights, double factor,
                         std::span<const TensorRef> gradients, train::TermSum& loss);
  sparse::Range rows_of_slice(const WholeGraph& part) const;
  double slope_of(const T* row, std::int32_t label, double factor, T* slope) const;
  Rows<const T> outputs_of(Bound<T>& bound, std::span<const TensorRef> weights);

  EngineShape shape_;
  const Comm& comm_;
  NodePass<T> pass_;
  std::vector<std::unique_ptr<Bound<T>>> bound_;
  Draws draws_{true, 1, 0};
  bool computed_ = false;  ///< the full graph was evaluated in this step
  Bound<T>* whole_ = nullptr;
  std::vector<T> by_outputs_;
  std::vector<double> losses_;  ///< of this rank's rows, negative for nodes not in the loss

  bool evaluating_ = false;
  std::uint64_t scored_graph_ = 0, scored_weights_ = 0;
  const void* scored_at_ = nullptr;
  sparse::Range scored_;         ///< nodes with outputs on this rank
  std::vector<double> outputs_;  ///< of each, classes
};

/// InputError if the network needs more of a partitioned graph than the rank holds.
template <class T>
void Engine<T>::require_held(const Graph& graph, bool alone) const {
  if (!graph.held) return;
  if (alone)
    throw InputError(
        fmt::format("{}: divided: true stores a part of the graph on each rank, and passes for single nodes need all "
                    "of it; take loader: full_graph, or remove divided",
                    graph.source));
  if (const auto scheme = shape_.layout.scheme; scheme != Scheme::rows && scheme != Scheme::needed_rows)
    throw InputError(
        fmt::format("{}: divided: true stores rows of the graph on each rank, which layout {} needs elsewhere; take "
                    "needed_rows or rows, or remove divided",
                    graph.source, sparse::name_of(scheme)));
}

template <class T>
Bound<T>& Engine<T>::bind(const GraphPtr& graph, bool alone) {
  alone = alone || comm_.size() == 1;
  for (auto& b : bound_)
    if (b->graph->fingerprint == graph->fingerprint && b->alone == alone) return *b;
  require_held(*graph, alone);
  auto b = std::make_unique<Bound<T>>();
  b->graph = graph;
  b->alone = alone;
  b->last = graph->nodes();
  auto matrix = weighed(*graph, shape_.weighing);
  if (alone) {
    b->spread = std::make_unique<Spread<T>>(sparse::converted<T>(matrix), std::vector<std::int32_t>{});
  } else {
    const auto nodes = graph->nodes(), rank = std::int64_t{comm_.rank()}, ranks = std::int64_t{comm_.size()};
    if (!graph->held) matrix = rows_of(matrix, nodes * rank / ranks, nodes * (rank + 1) / ranks);
    b->spread = make_spread<T>(matrix, shape_.layout, comm_);
    b->spread->begin_step(draws_.seed, draws_.step);
    b->first = b->spread->first();
    b->last = b->first + b->spread->outputs();
  }
  if (shape_.tiles) b->spread->use_tiles(sparse::TileUse::automatic);
  const auto from = graph->here().begin;
  const auto rows = rows_of(graph->features, b->first - from, b->last - from);
  b->features = sparse::converted<T>(shape_.sums_to_one ? divided_by_row_sums(rows) : rows);
  // A widening layer aggregates its narrow inputs; sparse features pay off if rows are wide and mostly zero.
  const auto& first = shape_.network.layers.front();
  const double size = static_cast<double>(graph->nodes()) * static_cast<double>(graph->features.columns);
  b->sparse = (first.kind == LayerShape::Kind::attention || first.out < first.in) &&
              static_cast<double>(graph->feature_entries) < 0.25 * size;
  if (b->sparse)
    b->dropped = b->features;
  else
    b->numbers = without_gaps(b->features);
  bound_.push_back(std::move(b));
  return *bound_.back();
}

/// The loss of a node, -log p; its gradient by the outputs times `factor`.
template <class T>
double Engine<T>::slope_of(const T* row, std::int32_t label, double factor, T* slope) const {
  const auto scores = log_softmax(row, shape_.classes());
  for (std::int64_t k = 0; k < shape_.classes(); ++k)
    slope[k] = static_cast<T>(factor * (std::exp(scores[k]) - (k == label ? 1.0 : 0.0)));
  return -scores[label];
}

template <class T>
void Engine<T>::compute_whole(const WholeGraph& part, std::span<const TensorRef> weights, double factor) {
  whole_ = &bind(part.graph, false);
  const auto spreads = every_layer(*whole_->spread);
  const auto outputs = pass_.forward(whole_->input(shape_.network.dropout, draws_), spreads, weights, draws_);
  const auto width = static_cast<std::size_t>(shape_.classes());
  by_outputs_.assign(static_cast<std::size_t>(outputs.rows) * width, T(0));
  losses_.assign(outputs.rows, -1.0);
  const auto& nodes = *part.nodes;
  for (auto node = std::lower_bound(nodes.begin(), nodes.end(), whole_->first);
       node != nodes.end() && *node < whole_->last; ++node) {
    const auto row = static_cast<std::size_t>(*node - whole_->first);
    losses_[row] = slope_of(outputs.row(static_cast<std::int64_t>(row)), part.graph->labels[*node], factor,
                            by_outputs_.data() + row * width);
  }
  pass_.backward({by_outputs_.data(), outputs.rows, outputs.width, outputs.width});
  computed_ = true;
}

template <class T>
void Engine<T>::gradient_of_nodes(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                                  double factor, std::span<const TensorRef> gradients, train::TermSum& loss) {
  const auto* first = storage_of<NodeSamples>(*samples.front());
  auto& bound = bind(first->graph, true);
  std::vector<std::int32_t> nodes;
  for (const auto& sample : samples) nodes.push_back(first->nodes[sample->id]);
  const NeighbourDraw draw{shape_.fan_out, shape_.weighing != Weighing::pattern, draws_.seed, draws_.step};
  auto blocks = blocks_of(bound.spread->rows(), nodes, shape_.network.layers.size(), draw);
  Csr<T> features;
  features.rows = std::ssize(blocks.nodes);
  features.columns = bound.features.columns;
  for (const auto node : blocks.nodes) {
    const auto columns = bound.features.columns_of(node);
    const auto values = bound.features.values_of(node);
    features.column.insert(features.column.end(), columns.begin(), columns.end());
    features.value.insert(features.value.end(), values.begin(), values.end());
    features.start.push_back(std::ssize(features.column));
  }
  drop_out(features, features, *blocks.spreads.front(), shape_.network.dropout, draws_);
  std::vector<T> dense;
  Input<T> input{&features, {}};
  if (!bound.sparse) {
    dense = without_gaps(features);
    input = {nullptr, {dense.data(), features.rows, features.columns, features.columns}};
  }
  std::vector<Spread<T>*> spreads;
  for (const auto& spread : blocks.spreads) spreads.push_back(spread.get());
  const auto outputs = pass_.forward(input, spreads, weights, draws_);
  by_outputs_.resize(outputs.rows * outputs.width);
  for (std::int64_t i = 0; i < outputs.rows; ++i) {
    const auto label = bound.graph->labels[nodes[i]];
    loss.sum += slope_of(outputs.row(i), label, factor, by_outputs_.data() + i * outputs.width);
    loss.count += 1.0;
  }
  pass_.backward({by_outputs_.data(), outputs.rows, outputs.width, outputs.width});
  pass_.gradient(-1, -1, gradients);
}

template <class T>
void Engine<T>::gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights, double factor,
                         std::span<const TensorRef> gradients, train::TermSum& loss) {
  const auto* part = storage_of<WholeGraph>(*samples.front());
  if (!part) return gradient_of_nodes(samples, weights, factor, gradients, loss);
  if (!shape_.fan_out.empty())
    throw InputError(
        "fan_out draws neighbours for batches of single nodes, and loader: full_graph takes all of them; remove "
        "fan_out, or take loader: shuffle");
  if (!computed_) compute_whole(*part, weights, factor);
  const auto rows = rows_of_slice(*part);
  for (auto i = rows.begin; i < rows.end; ++i)
    if (const double own = losses_[i]; own >= 0.0) loss.sum += own, loss.count += 1.0;
  pass_.gradient(rows.begin, rows.end, gradients);
}

/// The rows of a slice, counted from this rank's first.
template <class T>
sparse::Range Engine<T>::rows_of_slice(const WholeGraph& part) const {
  const auto& spread = *whole_->spread;
  if (spread.by_rows()) {
    if (part.first < whole_->first || part.last > whole_->last)
      throw InternalError("a slice of a graph has rows of another rank");
    return {part.first - whole_->first, part.last - whole_->first};
  }
  const auto own = spread.counted();
  return {own.begin + own.size() * part.slice / part.slices, own.begin + own.size() * (part.slice + 1) / part.slices};
}

template <class T>
Rows<const T> Engine<T>::outputs_of(Bound<T>& bound, std::span<const TensorRef> weights) {
  const auto spreads = every_layer(*bound.spread);
  return pass_.forward(bound.input(0.0, {}), spreads, weights, {});
}

template <class T>
sparse::Range Engine<T>::begin_evaluation(const GraphPtr& graph, std::span<const TensorRef> weights) {
  computed_ = false;
  auto& bound = bind(graph, false);
  const auto own = outputs_of(bound, weights);
  const auto counted = bound.spread->counted();
  outputs_.assign(own.row(counted.begin), own.row(counted.begin) + counted.size() * own.width);
  scored_ = {bound.first + counted.begin, bound.first + counted.end};
  evaluating_ = true;
  scored_graph_ = graph->fingerprint;
  scored_at_ = weights.front().data;
  scored_weights_ = hash_of(weights);
  return scored_;
}

template <class T>
std::vector<double> Engine<T>::scores(const GraphPtr& graph, std::int32_t node, std::span<const TensorRef> weights) {
  const bool same_graph = scored_.holds(node) && scored_graph_ == graph->fingerprint;
  const bool known =
      same_graph && ((evaluating_ && scored_at_ == weights.front().data) || scored_weights_ == hash_of(weights));
  if (!known) {
    computed_ = evaluating_ = false;
    const auto all = outputs_of(bind(graph, true), weights);
    outputs_.assign(all.data, all.data + all.rows * all.width);
    scored_ = {0, all.rows};
    scored_graph_ = graph->fingerprint;
    scored_weights_ = hash_of(weights);
    scored_at_ = nullptr;
  }
  return log_softmax(outputs_.data() + (node - scored_.begin) * shape_.classes(), shape_.classes());
}

template <class T>
std::int64_t Engine<T>::bytes() const {
  std::int64_t out = pass_.bytes() + 8 * (std::ssize(losses_) + std::ssize(outputs_));
  out += static_cast<std::int64_t>(sizeof(T)) * std::ssize(by_outputs_);
  for (const auto& b : bound_)
    out += b->spread->bytes() + bytes_of(b->features) + bytes_of(b->dropped) +
           static_cast<std::int64_t>(sizeof(T)) * (std::ssize(b->numbers) + std::ssize(b->changed));
  return out;
}

template <class T>
sparse::Words Engine<T>::words() const {
  sparse::Words out;
  for (const auto& b : bound_) out += b->spread->words();
  return out;
}

}  // namespace

template <class T>
std::unique_ptr<NodeEngine> make_engine(const EngineShape& shape, const Comm& comm) {
  return std::make_unique<Engine<T>>(shape, comm);
}

template std::unique_ptr<NodeEngine> make_engine<float>(const EngineShape&, const Comm&);
template std::unique_ptr<NodeEngine> make_engine<double>(const EngineShape&, const Comm&);

}  // namespace cambium::graph
