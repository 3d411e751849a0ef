#include "bench/task_bench/task_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"

namespace cambium::tasks {

TaskPlan::TaskPlan(const TaskGraph& graph, int rank, int ranks)
    : homes_(deal(graph, ranks)), place_(static_cast<std::size_t>(graph.size()), -1) {
  const auto order = order_of(graph);
  number_values(graph, order, rank);
  lay_out(graph, order, rank);
}

/// Own values in the order of the graph, then those that own tasks read of other ranks.
void TaskPlan::number_values(const TaskGraph& graph, const std::vector<std::int64_t>& order, int rank) {
  const auto number = [&](std::int64_t task) {
    place_[task] = static_cast<std::int32_t>(values_.size());
    values_.push_back({.task = task, .bytes = graph.output_bytes(task), .home = home(task)});
  };
  for (const std::int64_t t : order)
    if (home(t) == rank) number(t);
  own_.resize(values_.size());
  std::vector<std::int64_t> inputs;
  for (const std::int64_t t : order) {
    graph.inputs(t, inputs);
    for (const std::int64_t i : inputs) {
      if (home(i) != home(t)) largest_sent_ = std::max(largest_sent_, graph.output_bytes(i));
      if (home(t) == rank && place_[i] < 0) number(i);
    }
  }
}

/// Inputs of own tasks, and who reads each value.
void TaskPlan::lay_out(const TaskGraph& graph, const std::vector<std::int64_t>& order, int rank) {
  std::vector<std::vector<std::uint32_t>> readers(values_.size());
  std::vector<std::vector<int>> elsewhere(own_.size());
  std::vector<std::int64_t> inputs;
  for (const std::int64_t t : order) {
    graph.inputs(t, inputs);
    if (home(t) == rank) {
      const std::uint32_t k = value_of(t);
      own_[k] = {static_cast<std::uint32_t>(inputs_.size()), static_cast<std::uint32_t>(inputs.size())};
      for (const std::int64_t i : inputs) {
        inputs_.push_back(value_of(i));
        readers[value_of(i)].push_back(k);
      }
      continue;
    }
    for (const std::int64_t i : inputs)
      if (home(i) == rank) {
        auto& there = elsewhere[value_of(i)];
        if (std::find(there.begin(), there.end(), home(t)) == there.end()) there.push_back(home(t));
      }
  }
  for (std::uint32_t v = 0; v < values(); ++v) {
    values_[v].first_reader = static_cast<std::uint32_t>(readers_.size());
    values_[v].readers = static_cast<std::uint32_t>(readers[v].size());
    readers_.insert(readers_.end(), readers[v].begin(), readers[v].end());
    if (v >= own_tasks()) continue;
    values_[v].first_rank = static_cast<std::uint32_t>(ranks_.size());
    values_[v].ranks = static_cast<std::uint32_t>(elsewhere[v].size());
    ranks_.insert(ranks_.end(), elsewhere[v].begin(), elsewhere[v].end());
  }
}

bool TaskPlan::knows(std::int64_t task) const {
  return task >= 0 && task < std::ssize(place_) && place_[task] >= 0;
}

std::uint32_t TaskPlan::value_of(std::int64_t task) const {
  if (!knows(task)) throw InternalError(fmt::format("task {} has no value on this rank", task));
  return static_cast<std::uint32_t>(place_[task]);
}

}  // namespace cambium::tasks
