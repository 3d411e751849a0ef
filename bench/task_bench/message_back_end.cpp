// The published way to run the patterns with MPI: a message for every value that another rank reads, everything
// received before the kernels of a step begin. MPI is called by its profiling interface, bypassing the counters of
// core/parallel, which cost as much as a small task; with an emulated network it is called through them.
#include <fmt/format.h>

#include <algorithm>

#include "bench/task_bench/back_end.hpp"
#include "core/base/error.hpp"
#include "core/parallel/emulated_network.hpp"

namespace cambium::task_bench {

namespace {

/// The calls of MPI that a step makes.
struct Calls {
  decltype(&MPI_Irecv) receive;
  decltype(&MPI_Isend) send;
  decltype(&MPI_Waitall) wait;
  decltype(&MPI_Barrier) meet;
};

Calls calls() {
  if (emulated_network()) return {MPI_Irecv, MPI_Isend, MPI_Waitall, MPI_Barrier};
  return {PMPI_Irecv, PMPI_Isend, PMPI_Waitall, PMPI_Barrier};
}

constexpr std::int64_t most_points = 128;  // per rank: tags consist of two 7-bit indices

class MessageBackEnd : public BackEnd {
 public:
  MessageBackEnd(const Work& work, const Comm& comm, bool barrier) : BackEnd(work, comm), barrier_(barrier) {
    for (const Pattern& pattern : work_.graphs) graphs_.push_back(prepared(pattern));
  }

 private:
  using Values = std::vector<std::vector<std::byte>>;
  /// Reads of an own point by one set: where each of its inputs is copied to.
  struct Reads {
    std::vector<std::int64_t> from;
    Values value;
  };
  struct Graph {
    Pattern pattern;
    Block own;
    Values now, before;  ///< of own points
    std::vector<Traffic> traffic;
    std::vector<std::vector<Reads>> reads;  ///< by set, then own point
    std::vector<Scratch> scratch;
  };

  Graph prepared(const Pattern& pattern) const {
    Graph g{pattern, block_of(pattern.width, comm_.rank(), comm_.size()), {}, {}, {}, {}, {}};
    const auto bytes = static_cast<std::size_t>(work_.output_bytes);
    const auto points = static_cast<std::size_t>(g.own.end - g.own.first);
    if ((pattern.width + comm_.size() - 1) / comm_.size() > most_points)
      throw InputError(
          fmt::format("bench task_bench: {} points on {} ranks are more than {} on one; use a smaller width",
                      pattern.width, comm_.size(), most_points));
    g.now.assign(points, std::vector<std::byte>(bytes));
    g.before = g.now;
    g.scratch.resize(points);
    for (std::int64_t set = 0; set < pattern.sets(); ++set) {
      g.traffic.emplace_back(pattern, set, comm_);
      auto& reads = g.reads.emplace_back();
      for (std::int64_t p = g.own.first; p < g.own.end; ++p) {
        Reads r{pattern.of_set(set, p), {}};
        r.value.assign(r.from.size(), std::vector<std::byte>(bytes));
        reads.push_back(std::move(r));
      }
    }
    return g;
  }

  int tag(const Graph& g, const Traffic::Edge& edge) const {
    const int maker = rank_of(edge.from, g.pattern.width, comm_.size());
    const int reader = rank_of(edge.to, g.pattern.width, comm_.size());
    const std::int64_t from = edge.from - block_of(g.pattern.width, maker, comm_.size()).first;
    const std::int64_t to = edge.to - block_of(g.pattern.width, reader, comm_.size()).first;
    return static_cast<int>(from << 7 | to);
  }

  std::vector<std::byte>& place_of(Graph& g, std::int64_t set, const Traffic::Edge& edge) {
    Reads& r = g.reads[set][edge.to - g.own.first];
    std::size_t k = 0;
    while (r.from[k] != edge.from) ++k;
    return r.value[k];
  }

  /// Values of the step before that points of this step read, from and to other ranks, then own ones.
  void exchange(Graph& g, std::int64_t step) {
    const std::int64_t set = g.pattern.set_at(step);
    const Traffic& traffic = g.traffic[set];
    const auto bytes = static_cast<int>(work_.output_bytes);
    const auto needed = [&](const Traffic::Edge& e) {
      return g.pattern.exists(step - 1, e.from) && g.pattern.exists(step, e.to);
    };
    requests_.clear();
    for (int rank = 0; rank < comm_.size(); ++rank)
      for (const auto& e : traffic.in[rank])
        if (needed(e))
          mpi_.receive(place_of(g, set, e).data(), bytes, MPI_BYTE, rank, tag(g, e), comm_.handle(),
                       &requests_.emplace_back());
    for (int rank = 0; rank < comm_.size(); ++rank)
      for (const auto& e : traffic.out[rank])
        if (needed(e))
          mpi_.send(g.before[e.from - g.own.first].data(), bytes, MPI_BYTE, rank, tag(g, e), comm_.handle(),
                    &requests_.emplace_back());
    for (std::int64_t p = g.own.first; p < g.own.end; ++p) {
      Reads& r = g.reads[set][p - g.own.first];
      for (std::size_t k = 0; k < r.from.size(); ++k)
        if (r.from[k] >= g.own.first && r.from[k] < g.own.end) r.value[k] = g.before[r.from[k] - g.own.first];
    }
    mpi_.wait(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

  void compute(Graph& g, std::int64_t step) {
    for (std::int64_t p = g.own.first; p < g.own.end; ++p) {
      if (!g.pattern.exists(step, p)) continue;
      const auto k = static_cast<std::size_t>(p - g.own.first);
      from_.clear();
      inputs_.clear();
      if (step > 0) {
        const Reads& r = g.reads[g.pattern.set_at(step)][k];
        for (std::size_t i = 0; i < r.from.size(); ++i)
          if (g.pattern.exists(step - 1, r.from[i])) from_.push_back(r.from[i]), inputs_.emplace_back(r.value[i]);
      }
      run_task(work_, g.pattern, step, p, from_, inputs_, g.now[k], g.scratch[k]);
    }
  }

  void run() override {
    std::int64_t steps = 0;
    for (const Graph& g : graphs_) steps = std::max(steps, g.pattern.steps);
    for (std::int64_t step = 0; step < steps; ++step) {
      for (Graph& g : graphs_) {
        if (step >= g.pattern.steps) continue;
        std::swap(g.now, g.before);
        if (step > 0) exchange(g, step);
        compute(g, step);
      }
      if (barrier_) mpi_.meet(comm_.handle());
    }
  }

  bool barrier_;
  Calls mpi_ = calls();
  std::vector<Graph> graphs_;
  std::vector<MPI_Request> requests_;
  std::vector<std::int64_t> from_;
  std::vector<Bytes> inputs_;
};

}  // namespace

std::unique_ptr<BackEnd> message_back_end(const Work& work, const Comm& comm, bool barrier) {
  return std::make_unique<MessageBackEnd>(work, comm, barrier);
}

}  // namespace cambium::task_bench
