#pragma once
#include <memory>
#include <string>
#include <vector>

#include "bench/task_bench/task.hpp"
#include "core/parallel/comm.hpp"

namespace cambium::task_bench {

/// A way to run graphs of tasks on all ranks. Everything that does not depend on the number of iterations is prepared
/// once.
class BackEnd {
 public:
  virtual ~BackEnd() = default;
  /// Collective: all tasks with this many iterations; seconds between two barriers, the same on every rank.
  double seconds(std::int64_t iterations);

 protected:
  BackEnd(const Work& work, const Comm& comm) : work_(work), comm_(comm) {}
  virtual void run() = 0;
  Work work_;
  const Comm& comm_;
};

/// Senders and receivers for one set of a pattern: the same lists for messages and for exchanges.
struct Traffic {
  struct Edge {
    std::int64_t from, to;
  };
  /// By rank: own points that points there read (`out`), points there that own points read (`in`); each in the order
  /// of `from`, then `to`.
  std::vector<std::vector<Edge>> out, in;
  Traffic(const Pattern& pattern, std::int64_t set, const Comm& comm);
};

/// Receives and sends of all values of a step at once, all waited for, then the kernels: the yardstick. `barrier`: all
/// ranks meet after each step, too.
std::unique_ptr<BackEnd> message_back_end(const Work& work, const Comm& comm, bool barrier);
/// core/parallel/farm.
std::unique_ptr<BackEnd> task_back_end(const Work& work, const Comm& comm, int threads, bool shared_memory);
/// A physics whose step is an exchange with the other ranks and then its points; InputError on devices.
std::unique_ptr<BackEnd> schedule_back_end(const Work& work, const Comm& comm);

/// "messages", "bulk_synchronous", "tasks", "tasks_by_messages", "schedule".
std::unique_ptr<BackEnd> make_back_end(const std::string& name, const Work& work, const Comm& comm, int threads);

}  // namespace cambium::task_bench
