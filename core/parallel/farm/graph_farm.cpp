#include "core/parallel/farm/graph_farm.hpp"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "core/base/error.hpp"

namespace cambium::tasks {

namespace {

/// Tasks of a graph that are ready, on rank 0.
class GraphSource : public WorkSource {
 public:
  GraphSource(const TaskGraph& graph, TaskJournal* journal, const std::function<bool()>& stop, bool says_itself)
      : graph_(graph), journal_(journal), stop_(stop), says_itself_(says_itself),
        values_(static_cast<std::size_t>(graph.size())), readers_(values_.size()), missing_(values_.size(), 0),
        uses_(values_.size(), 0) {
    std::vector<std::int64_t> inputs;
    for (std::int64_t t = 0; t < graph.size(); ++t) {
      graph.inputs(t, inputs);
      missing_[at(t)] = uses(inputs);
      for (const std::int64_t i : inputs) {
        ++uses_[at(i)];
        readers_[at(i)].push_back(t);
      }
    }
    left_ = graph.size();
    for (std::int64_t t = 0; t < graph.size(); ++t)
      if (missing_[at(t)] == 0) ready_.insert({-graph.cost(t), t});
    if (journal) replay();
  }

  bool next(int, Piece& piece) override {
    if (ready_.empty()) return false;
    piece.number = ready_.extract(ready_.begin()).value().second;
    piece.what = inputs_of(piece.number);
    return true;
  }

  void finished(const Piece& piece, const PieceResult& result, int) override {
    if (result.failed) {
      if (!problem_.empty()) return;
      problem_ = says_itself_ ? result.problem : fmt::format("task {} failed: {}", piece.number, result.problem);
      of_input_ = result.of_input;
      return;
    }
    if (journal_) journal_->add(piece.number, result.value);
    accept(piece.number, result.value);
  }

  bool ended() const override {
    if (!stopped_ && stop_ && stop_()) stopped_ = true;
    return left_ == 0 || stopped_ || !problem_.empty();
  }

  const std::string& problem() const { return problem_; }
  bool of_input() const { return of_input_; }
  bool complete() const { return left_ == 0; }
  std::int64_t replayed() const { return replayed_; }
  std::vector<std::vector<std::byte>> take_values() { return std::move(values_); }

 private:
  static std::size_t at(std::int64_t t) { return static_cast<std::size_t>(t); }
  static std::int64_t uses(const std::vector<std::int64_t>& inputs) { return std::ssize(inputs); }

  /// A task in the journal is finished, whether or not its inputs are: their values may be gone.
  void replay() {
    for (const auto& [task, value] : journal_->finished()) {
      if (task < 0 || task >= graph_.size() || value.size() != graph_.output_bytes(task)) continue;
      ready_.erase({-graph_.cost(task), task});
      missing_[at(task)] = -1;
      ++replayed_;
    }
    for (const auto& [task, value] : journal_->finished())
      if (task >= 0 && task < graph_.size() && missing_[at(task)] == -1) accept(task, value);
  }

  void accept(std::int64_t task, const std::vector<std::byte>& value) {
    --left_;
    if (readers_[at(task)].empty() || uses_[at(task)] > 0) values_[at(task)] = value;
    for (const std::int64_t reader : readers_[at(task)])
      if (missing_[at(reader)] > 0 && --missing_[at(reader)] == 0) ready_.insert({-graph_.cost(reader), reader});
    std::vector<std::int64_t> inputs;
    graph_.inputs(task, inputs);
    for (const std::int64_t i : inputs)  // a replayed reader may precede its inputs
      if (--uses_[at(i)] == 0) values_[at(i)] = {};
  }

  /// Length and bytes of every input.
  std::vector<std::byte> inputs_of(std::int64_t task) const {
    std::vector<std::int64_t> inputs;
    graph_.inputs(task, inputs);
    std::vector<std::byte> out;
    for (const std::int64_t i : inputs) {
      const auto& value = values_[at(i)];
      const std::uint64_t bytes = value.size();
      const auto* const head = reinterpret_cast<const std::byte*>(&bytes);
      out.insert(out.end(), head, head + sizeof(bytes));
      out.insert(out.end(), value.begin(), value.end());
    }
    return out;
  }

  const TaskGraph& graph_;
  TaskJournal* journal_;
  const std::function<bool()>& stop_;
  bool says_itself_, of_input_ = false;
  std::vector<std::vector<std::byte>> values_;
  std::vector<std::vector<std::int64_t>> readers_;
  std::vector<std::int64_t> missing_, uses_;
  std::set<std::pair<double, std::int64_t>> ready_;  ///< the most expensive first
  std::int64_t left_ = 0, replayed_ = 0;
  std::string problem_;
  mutable bool stopped_ = false;
};

PieceResult run_piece(const TaskGraph& graph, const Piece& piece, const Breathe& breathe) {
  std::vector<Input> inputs;
  for (std::size_t at = 0; at < piece.what.size();) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, piece.what.data() + at, sizeof(bytes));
    at += sizeof(bytes);
    inputs.emplace_back(piece.what.data() + at, bytes);
    at += bytes;
  }
  PieceResult out;
  out.value.resize(graph.output_bytes(piece.number));
  graph.run_long(piece.number, inputs, out.value, breathe);
  return out;
}

}  // namespace

GraphFarmResult run_by_need(const TaskGraph& graph, const Comm& comm, Log& log, const FarmOptions& options,
                            TaskJournal* journal, const std::function<bool()>& stop) {
  order_of(graph);  // refuses a graph that could not end, on every rank
  std::optional<GraphSource> source;
  if (comm.root()) source.emplace(graph, journal, stop, options.says_itself);
  Farm farm(comm, log, options,
            [&](const Piece& piece, const Breathe& breathe) { return run_piece(graph, piece, breathe); });
  GraphFarmResult out;
  out.report = farm.run(source ? &*source : nullptr);
  if (source) {
    if (journal) journal->synchronise();
    out.values = source->take_values();
    out.replayed = source->replayed();
  }
  std::string problem = source ? source->problem() : std::string();
  comm.broadcast(problem);
  const bool of_input = comm.max(source && source->of_input() ? 1 : 0) == 1;
  if (!problem.empty() && of_input) throw InputError(problem);
  if (!problem.empty()) throw NumericalError(problem);
  out.complete = comm.max(source && !source->complete() ? 1 : 0) == 0;
  return out;
}

}  // namespace cambium::tasks
