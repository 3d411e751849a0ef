// The patterns as a physics: a step of the loop begins to exchange the rows of all graphs with the other ranks, then
// computes one graph after the other, each when its rows are here.
#include <algorithm>
#include <cstring>
#include <memory>
#include <span>

#include "bench/task_bench/back_end.hpp"
#include "core/base/error.hpp"
#include "core/parallel/kokkos.hpp"
#include "core/parallel/peer_exchange.hpp"
#include "core/run/advance.hpp"

namespace cambium::task_bench {

namespace {

/// Input of a point and its location: own point `place`, or row ~place of those from other ranks.
struct Read {
  std::int64_t from, place;
};

/// Rows of one set that ranks exchange: every value once for each rank that reads it.
struct Rows {
  explicit Rows(const Comm& comm) : exchange(comm) {}
  PeerExchange exchange;
  std::vector<std::int64_t> near, far;  ///< points of the rows
  std::vector<double> near_values, far_values;
  std::vector<std::vector<Read>> reads;  ///< of own points

  static std::vector<std::int64_t> makers(const std::vector<Traffic::Edge>& edges) {
    std::vector<std::int64_t> out;
    for (const auto& e : edges)
      if (out.empty() || out.back() != e.from) out.push_back(e.from);  // they are in order
    return out;
  }

  void connect(const Traffic& traffic, int words) {
    std::vector<PeerExchange::Peer> peers;
    for (std::size_t rank = 0; rank < traffic.out.size(); ++rank) {
      const auto out = makers(traffic.out[rank]), in = makers(traffic.in[rank]);
      if (out.empty() && in.empty()) continue;
      PeerExchange::Peer peer;
      peer.rank = static_cast<int>(rank);
      peer.near_first = static_cast<int>(near.size());
      peer.near_count = static_cast<int>(out.size());
      peers.push_back(peer);
      near.insert(near.end(), out.begin(), out.end());
      far.insert(far.end(), in.begin(), in.end());
    }
    exchange.connect(std::move(peers));
    near_values.resize(near.size() * static_cast<std::size_t>(words));
    far_values.resize(far.size() * static_cast<std::size_t>(words));
  }

  void note_reads(const Pattern& pattern, std::int64_t set, Block own) {
    for (std::int64_t p = own.first; p < own.end; ++p) {
      auto& list = reads.emplace_back();
      for (const std::int64_t q : pattern.of_set(set, p))
        list.push_back(
            {q, q >= own.first && q < own.end ? q - own.first : ~(std::find(far.begin(), far.end(), q) - far.begin())});
    }
  }
};

/// The patterns on this rank.
class PatternPhysics : public Physics {
 public:
  PatternPhysics(const task_bench::Work& work, const Comm& comm)
      : work_(work), comm_(comm), words_(static_cast<int>(work.output_bytes / 8)) {
    for (const Pattern& pattern : work_.graphs) graphs_.push_back(prepared(pattern));
  }

  void declare(State&, Context&) override {}
  void initialise(State&, Context&) override {}
  void restore(State&, Context&, const io::Group&, bool) override {}
  double timestep(const State&) const override { return 1.0; }
  std::vector<Observable> observables() const override { return {}; }
  void measure(const State&, Context&, std::span<double>) override {}
  Physics::Work work(const State&) const override { return {1, "task"}; }

  void schedule(Schedule& list) override {
    list.add({"exchange: rows", {"value"}, {"value"}, [this](State&, StepInfo& info) {
                for (auto& graph : graphs_)
                  if (info.step > 1 && info.step <= graph->pattern.steps) begin_exchange(*graph, info.step - 1);
              }});
    list.add({"points: tasks", {"value"}, {"value"}, [this](State&, StepInfo& info) {
                for (std::size_t k = 0; k < graphs_.size(); ++k) {
                  if (info.step > graphs_[k]->pattern.steps) continue;
                  if (info.step > 1) rows_at(*graphs_[k], info.step - 1).exchange.finish();
                  compute(*graphs_[k], info.step - 1);
                  for (std::size_t later = k + 1; later < graphs_.size(); ++later)
                    if (info.step > 1 && info.step <= graphs_[later]->pattern.steps)
                      rows_at(*graphs_[later], info.step - 1).exchange.progress();
                }
              }});
  }
  void set_iterations(std::int64_t iterations) { work_.kernel.iterations = iterations; }
  std::int64_t steps() const {
    std::int64_t out = 0;
    for (const auto& graph : graphs_) out = std::max(out, graph->pattern.steps);
    return out;
  }

 private:
  using Values = std::vector<std::vector<std::byte>>;
  struct Graph {
    Pattern pattern;
    Block own;
    Values now, before;                       ///< of own points
    std::vector<std::unique_ptr<Rows>> rows;  ///< by set
    std::vector<Scratch> scratch;
  };

  std::unique_ptr<Graph> prepared(const Pattern& pattern) const {
    auto g = std::make_unique<Graph>();
    g->pattern = pattern;
    g->own = block_of(pattern.width, comm_.rank(), comm_.size());
    const auto points = static_cast<std::size_t>(g->own.end - g->own.first);
    g->now.assign(points, std::vector<std::byte>(work_.output_bytes));
    g->before = g->now;
    g->scratch.resize(points);
    for (std::int64_t set = 0; set < pattern.sets(); ++set) {
      g->rows.push_back(std::make_unique<Rows>(comm_));
      g->rows.back()->connect(Traffic(pattern, set, comm_), words_);
      g->rows.back()->note_reads(pattern, set, g->own);
    }
    return g;
  }

  std::size_t bytes() const { return static_cast<std::size_t>(work_.output_bytes); }

  /// Makes the output of the previous step `before`; starts sending rows that others read and receiving those read
  /// here.
  void begin_exchange(Graph& g, std::int64_t step) {
    std::swap(g.now, g.before);
    Rows& rows = rows_at(g, step);
    for (std::size_t k = 0; k < rows.near.size(); ++k)
      std::memcpy(rows.near_values.data() + k * static_cast<std::size_t>(words_),
                  g.before[rows.near[k] - g.own.first].data(), bytes());
    rows.exchange.begin_out(rows.near_values.data(), rows.far_values.data(), words_);
  }

  static Rows& rows_at(const Graph& g, std::int64_t step) { return *g.rows[g.pattern.set_at(step)]; }

  Bytes value(const Graph& g, const Rows& rows, std::int64_t place) const {
    if (place >= 0) return g.before[place];
    return std::as_bytes(std::span(rows.far_values)).subspan(static_cast<std::size_t>(~place) * bytes(), bytes());
  }

  void compute(Graph& g, std::int64_t step) {
    const Rows& rows = rows_at(g, step);
    for (std::int64_t p = g.own.first; p < g.own.end; ++p) {
      if (!g.pattern.exists(step, p)) continue;
      const auto k = static_cast<std::size_t>(p - g.own.first);
      from_.clear();
      inputs_.clear();
      if (step > 0)
        for (const Read& read : rows.reads[k])
          if (g.pattern.exists(step - 1, read.from)) {
            from_.push_back(read.from);
            inputs_.push_back(value(g, rows, read.place));
          }
      run_task(work_, g.pattern, step, p, from_, inputs_, g.now[k], g.scratch[k]);
    }
  }

  task_bench::Work work_;
  const Comm& comm_;
  int words_;
  std::vector<std::unique_ptr<Graph>> graphs_;
  std::vector<std::int64_t> from_;
  std::vector<Bytes> inputs_;
};

class ScheduleBackEnd : public BackEnd {
 public:
  ScheduleBackEnd(const task_bench::Work& work, const Comm& comm) : BackEnd(work, comm), physics_(work, comm) {
    physics_.schedule(schedule_);
  }

 private:
  void run() override {
    physics_.set_iterations(work_.kernel.iterations);
    State state;
    for (std::int64_t k = physics_.steps(); k > 0; --k) advance(schedule_, physics_, state, timing_, false);
  }
  PatternPhysics physics_;
  Schedule schedule_;
  Timing timing_;
};

}  // namespace

std::unique_ptr<BackEnd> schedule_back_end(const Work& work, const Comm& comm) {
  if constexpr (!device_is_host)
    throw InputError(
        "bench task_bench: the back end schedule exchanges rows of a processor's memory, but kernels of this build run "
        "on a device; leave schedule out of back_ends");
  return std::make_unique<ScheduleBackEnd>(work, comm);
}

}  // namespace cambium::task_bench
