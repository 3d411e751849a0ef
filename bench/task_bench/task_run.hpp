#pragma once
#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "bench/task_bench/task_exchange.hpp"
#include "bench/task_bench/task_plan.hpp"

namespace cambium::tasks {

struct TaskRunOptions {
  int threads = 1;            ///< of each rank that run tasks, the one that calls included
  bool shared_memory = true;  ///< between ranks of a node; otherwise messages
  double silence = 0.0;  ///< seconds without any value, longer than a task, after which a rank counts as lost; 0: never
};

struct TaskRunReport {
  double seconds = 0.0;
  std::int64_t tasks = 0;                ///< of this rank
  std::int64_t messages = 0, bytes = 0;  ///< sent by this rank; bytes that were copied for others
};

/// Runs a graph on all ranks of a communicator, each task at its home, as soon as its inputs are available; tasks whose
/// values other ranks wait for come first. No global synchronisation, no central scheduler. A value lives until its
/// last reader has run; values without readers are kept.
class TaskRun {
 public:
  /// Collective: lays everything out, so that run() may be called again and again. The graph outlives this.
  TaskRun(const TaskGraph& graph, const Comm& comm, TaskRunOptions options = {});
  /// Collective. An exception of a task ends the run on its rank; NumericalError if nothing arrived for `silence`
  /// seconds.
  TaskRunReport run();

  /// After run(): the value of an own task without readers.
  std::span<const std::byte> kept(std::int64_t task) const;
  int home(std::int64_t task) const { return plan_.home(task); }
  const TaskPlan& plan() const { return plan_; }

 private:
  /// State of a value in this run.
  struct State {
    const std::byte* data = nullptr;
    std::uint32_t uses = 0;  ///< left: own tasks that read it, ranks to which it must be sent
    bool shared = false;     ///< in shared memory of the node
  };
  struct Errand {
    std::uint32_t value;
    int rank;
  };
  class Lock;

  void begin();
  void work();
  void work_beside();
  bool run_one(std::vector<Input>& inputs, const std::function<void()>& breathe);
  std::byte* room_for(std::uint32_t own);
  void ready(std::uint32_t own);
  bool take(std::uint32_t& own);
  void complete(std::uint32_t own);
  void drop_use(std::uint32_t value);
  void deliver();
  bool receive();
  void arrived(const TaskExchange::Arrival& arrival);
  void idle(double& since);
  [[noreturn]] void report_silence() const;

  const TaskGraph& graph_;
  TaskRunOptions options_;
  TaskPlan plan_;
  Comm comm_;
  TaskExchange exchange_;
  ValuePool heap_;

  std::mutex mutex_;  ///< guards the following members if there are several threads
  std::vector<State> states_;
  std::vector<std::uint32_t> missing_;          ///< inputs of own tasks that have not arrived
  std::vector<std::uint32_t> urgent_, others_;  ///< ready tasks in the order in which they became so
  std::size_t urgent_taken_ = 0, others_taken_ = 0;
  std::vector<Errand> errands_;  ///< values to be sent
  std::vector<Errand> returns_;  ///< values to be returned
  std::int64_t lent_ = 0;        ///< values that other ranks read here
  int running_ = 0;              ///< tasks, in threads of this rank
  std::exception_ptr failure_;
  std::atomic<std::int64_t> left_{0};
  std::atomic<bool> ended_{false};
};

}  // namespace cambium::tasks
