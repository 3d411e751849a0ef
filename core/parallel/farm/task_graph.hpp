#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace cambium::tasks {

/// Result of another task, read where it is stored.
using Input = std::span<const std::byte>;

/// Work split into tasks, numbered from 0, that read each other's values. The same on every rank; run() may be called
/// by several threads at once, each time for another task.
class TaskGraph {
 public:
  virtual ~TaskGraph() = default;
  virtual std::int64_t size() const = 0;
  /// Replaces `out` by the tasks whose values `task` reads, in the order in which run() gets them.
  virtual void inputs(std::int64_t task, std::vector<std::int64_t>& out) const = 0;
  virtual std::size_t output_bytes(std::int64_t task) const = 0;
  /// In any unit; tasks without a home are assigned by it, and the most expensive are scheduled first.
  virtual double cost(std::int64_t) const { return 1.0; }
  /// The rank that runs it in a TaskRun; negative: assigned by cost.
  virtual int home(std::int64_t /*task*/, int /*ranks*/) const { return -1; }
  /// Fills `output`, from `inputs` and the task number only.
  virtual void run(std::int64_t task, std::span<const Input> inputs, std::span<std::byte> output) const = 0;
  /// The same for a long task that calls `breathe` often, which progresses messages and serves other ranks. A large
  /// message needs a handshake before it is sent, and a rank that only computes does not answer.
  virtual void run_long(std::int64_t task, std::span<const Input> inputs, std::span<std::byte> output,
                        const std::function<void()>& /*breathe*/) const {
    run(task, inputs, output);
  }
};

/// An order in which every task follows its inputs, lower numbers first if there is a choice. InputError for circular
/// dependencies, with the cycle, and for inputs that are not tasks.
std::vector<std::int64_t> order_of(const TaskGraph& graph);

/// Rank of each task: its home, else the rank with the least cost so far, the most expensive task first. InputError for
/// a home that is not a rank.
std::vector<int> deal(const TaskGraph& graph, int ranks);

/// All values, computed serially in this order: the reference for every other way to run the graph.
std::vector<std::vector<std::byte>> run_serially(const TaskGraph& graph);

}  // namespace cambium::tasks
