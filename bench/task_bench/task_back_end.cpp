// The patterns as one graph of tasks for core/parallel/farm.
#include <algorithm>

#include "bench/task_bench/back_end.hpp"
#include "bench/task_bench/task_run.hpp"

namespace cambium::task_bench {

namespace {

/// Tasks are numbered by step, then graph, then point, that is, in the order in which they become ready.
class PatternGraph : public tasks::TaskGraph {
 public:
  PatternGraph(const Work& work, int ranks) : work_(work), ranks_(ranks) {
    std::int64_t steps = 0;
    for (const Pattern& p : work_.graphs) steps = std::max(steps, p.steps);
    first_.assign(work_.graphs.size(), {});
    for (std::int64_t step = 0; step < steps; ++step)
      for (std::size_t g = 0; g < work_.graphs.size(); ++g) {
        const Pattern& pattern = work_.graphs[g];
        first_[g].push_back(std::ssize(tasks_));
        if (step >= pattern.steps) continue;
        for (std::int64_t k = 0; k < pattern.points(step); ++k) {
          Task task{static_cast<std::int32_t>(g), step, pattern.offset(step) + k, {}};
          task.from = pattern.inputs(step, task.point);
          tasks_.push_back(std::move(task));
        }
      }
  }

  std::int64_t size() const override { return std::ssize(tasks_); }
  void inputs(std::int64_t t, std::vector<std::int64_t>& out) const override {
    const Task& task = of(t);
    const Pattern& pattern = work_.graphs[task.graph];
    out.clear();
    for (const std::int64_t p : task.from)
      out.push_back(first_[task.graph][task.step - 1] + p - pattern.offset(task.step - 1));
  }
  std::size_t output_bytes(std::int64_t) const override { return static_cast<std::size_t>(work_.output_bytes); }
  int home(std::int64_t t, int) const override { return rank_of(of(t).point, work_.graphs[of(t).graph].width, ranks_); }
  /// Scratch is a thread's own: two steps of a point may run at once.
  void run(std::int64_t t, std::span<const tasks::Input> inputs, std::span<std::byte> output) const override {
    const Task& task = of(t);
    thread_local Scratch scratch;
    run_task(work_, work_.graphs[task.graph], task.step, task.point, task.from, inputs, output, scratch);
  }

  void set_iterations(std::int64_t iterations) { work_.kernel.iterations = iterations; }

 private:
  struct Task {
    std::int32_t graph;
    std::int64_t step, point;
    std::vector<std::int64_t> from;
  };
  const Task& of(std::int64_t t) const { return tasks_[t]; }

  Work work_;
  int ranks_;
  std::vector<Task> tasks_;
  std::vector<std::vector<std::int64_t>> first_;  ///< by graph and step
};

class TaskBackEnd : public BackEnd {
 public:
  TaskBackEnd(const Work& work, const Comm& comm, int threads, bool shared_memory)
      : BackEnd(work, comm), graph_(work, comm.size()),
        run_(graph_, comm, {.threads = threads, .shared_memory = shared_memory}) {}

 private:
  void run() override {
    graph_.set_iterations(work_.kernel.iterations);
    run_.run();
  }
  PatternGraph graph_;
  tasks::TaskRun run_;
};

}  // namespace

std::unique_ptr<BackEnd> task_back_end(const Work& work, const Comm& comm, int threads, bool shared_memory) {
  return std::make_unique<TaskBackEnd>(work, comm, threads, shared_memory);
}

}  // namespace cambium::task_bench
