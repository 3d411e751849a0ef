#pragma once
#include <functional>
#include <vector>

#include "core/parallel/farm/farm.hpp"
#include "core/parallel/farm/task_graph.hpp"
#include "core/parallel/farm/task_journal.hpp"

namespace cambium::tasks {

/// Outcome of a graph that was scheduled.
struct GraphFarmResult {
  /// On rank 0: values that no task reads, by task; empty for the others.
  std::vector<std::vector<std::byte>> values;
  FarmReport report;          ///< on rank 0
  bool complete = true;       ///< false: it was stopped; the same on every rank
  std::int64_t replayed = 0;  ///< on rank 0: tasks that the journal knew
};

/// Collective: schedules the tasks of a graph dynamically, the most expensive ready one first; inputs are sent with the
/// task, values are returned to rank 0 and kept until their last reader has run. `journal` (on rank 0; null: none)
/// supplies finished tasks and records the others. `stop` (on rank 0; may be empty) is called before each task. If a
/// task failed for good, its InputError, or a NumericalError with its reason.
GraphFarmResult run_by_need(const TaskGraph& graph, const Comm& comm, Log& log, const FarmOptions& options = {},
                            TaskJournal* journal = nullptr, const std::function<bool()>& stop = {});

}  // namespace cambium::tasks
