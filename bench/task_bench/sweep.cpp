#include "bench/task_bench/sweep.hpp"

#include <algorithm>

#include "core/base/timing.hpp"

namespace cambium::task_bench {

double peak_rate(const Work& work, const SweepSizes& sizes, const Comm& comm) {
  Scratch scratch;
  const std::int64_t iterations = std::max<std::int64_t>(sizes.largest, 1);
  double best = 1e300;
  for (int turn = 0; turn < 20; ++turn) {
    comm.barrier();
    const double start = wall_seconds();
    for (int k = 0; k < 8; ++k) execute(work.kernel, iterations, scratch);
    best = std::min(best, comm.max(wall_seconds() - start) / 8);
  }
  return static_cast<double>(iterations) * sizes.cores / best;
}

static double tasks_of(const Work& work) {
  double tasks = 0.0;
  for (const Pattern& p : work.graphs) tasks += static_cast<double>(p.tasks());
  return tasks;
}

static double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<std::vector<GrainPoint>> sweep(const std::vector<std::unique_ptr<BackEnd>>& back_ends, const Work& work,
                                           const SweepSizes& sizes, double peak) {
  constexpr double least = 0.02;
  const double tasks = tasks_of(work);
  std::vector<std::vector<GrainPoint>> out(back_ends.size());
  for (std::int64_t iterations = sizes.largest; iterations > 0; iterations /= 2) {
    std::vector<std::vector<double>> turns(back_ends.size());
    const auto takes_part = [&](std::size_t k) { return out[k].empty() || out[k].back().efficiency >= least; };
    for (int turn = -1; turn < sizes.repeats; ++turn)
      for (std::size_t k = 0; k < back_ends.size(); ++k) {
        if (!takes_part(k)) continue;
        const double seconds = back_ends[k]->seconds(iterations);
        if (turn >= 0) turns[k].push_back(seconds);
      }
    for (std::size_t k = 0; k < back_ends.size(); ++k) {
      if (!takes_part(k)) continue;
      GrainPoint point{.iterations = iterations, .seconds = median(turns[k])};
      point.granularity = point.seconds * sizes.cores / tasks;
      point.efficiency = tasks * static_cast<double>(iterations) / point.seconds / peak;
      out[k].push_back(point);
    }
  }
  return out;
}

double Hiding::share() const { return messages > 0.0 ? 1.0 - (together - work - values) / messages : 0.0; }

namespace {

double best_of(BackEnd& back_end, std::int64_t iterations, int turns) {
  double least = 1e300;
  for (int k = 0; k <= turns; ++k) least = std::min(least, back_end.seconds(iterations));
  return least;
}

/// The messages of all steps, with nothing else to do.
class MessagesAlone : public BackEnd {
 public:
  MessagesAlone(const Work& work, const Comm& comm) : BackEnd(work, comm) {
    for (const Pattern& pattern : work_.graphs) traffic_.emplace_back(pattern, 0, comm);
    std::size_t most = 0;
    for (const Traffic& t : traffic_) {
      std::size_t in = 0, out = 0;
      for (std::size_t rank = 0; rank < t.in.size(); ++rank) {
        in += t.in[rank].size();
        out += t.out[rank].size();
      }
      most = std::max({most, in, out});
    }
    in_.resize(most * static_cast<std::size_t>(work_.output_bytes));
    out_.resize(in_.size());
  }

 private:
  void run() override {
    for (std::int64_t step = 1; step < work_.graphs.front().steps; ++step)
      for (const Traffic& t : traffic_) exchange(t);
  }

  void exchange(const Traffic& t) {
    constexpr int tag = 41;
    const int bytes = static_cast<int>(work_.output_bytes);
    requests_.clear();
    std::size_t in = 0, out = 0;
    for (std::size_t rank = 0; rank < t.in.size(); ++rank)
      for (std::size_t k = 0; k < t.in[rank].size(); ++k, in += static_cast<std::size_t>(bytes))
        MPI_Irecv(in_.data() + in, bytes, MPI_BYTE, static_cast<int>(rank), tag, comm_.handle(),
                  &requests_.emplace_back());
    for (std::size_t rank = 0; rank < t.out.size(); ++rank)
      for (std::size_t k = 0; k < t.out[rank].size(); ++k, out += static_cast<std::size_t>(bytes))
        MPI_Isend(out_.data() + out, bytes, MPI_BYTE, static_cast<int>(rank), tag, comm_.handle(),
                  &requests_.emplace_back());
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

  std::vector<Traffic> traffic_;
  std::vector<std::byte> in_, out_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

Hiding measure_hiding(const std::string& name, Work work, const SweepSizes& sizes, std::int64_t bytes, double peak,
                      int threads, const Comm& comm) {
  Hiding out;
  work.kernel.kind = KernelKind::compute_bound;
  const auto small = make_back_end(name, work, comm, threads);
  work.output_bytes = bytes;
  const auto large = make_back_end(name, work, comm, threads);
  MessagesAlone messages(work, comm);
  const Comm self(MPI_COMM_SELF);  // every rank does the tasks of all, all at the same time
  const auto alone = make_back_end("tasks", work, self, threads);
  out.messages = best_of(messages, 0, sizes.repeats);
  out.values = comm.max(best_of(*alone, 0, sizes.repeats)) / comm.size();
  const auto iterations = static_cast<std::int64_t>(std::max(1.0, out.messages * peak / tasks_of(work)));
  out.work = best_of(*small, iterations, sizes.repeats);
  out.together = best_of(*large, iterations, sizes.repeats);
  return out;
}

}  // namespace cambium::task_bench
