#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel/farm/task_graph.hpp"

namespace cambium::tasks {

/// Work of one rank for a graph, laid out so that running a task needs no lookups. Values are numbered: first those of
/// own tasks, in the order of the graph, then those received from other ranks.
class TaskPlan {
 public:
  struct Value {
    std::int64_t task = 0;
    std::size_t bytes = 0;
    int home = 0;
    std::uint32_t first_reader = 0, readers = 0;  ///< own tasks, once for each time that one reads it
    std::uint32_t first_rank = 0, ranks = 0;      ///< other ranks that read an own value
  };
  struct Own {
    std::uint32_t first_input = 0, inputs = 0;
  };

  /// The same on every rank, so that no messages are needed. InputError as order_of() and deal().
  TaskPlan(const TaskGraph& graph, int rank, int ranks);

  std::uint32_t own_tasks() const { return static_cast<std::uint32_t>(own_.size()); }
  std::uint32_t values() const { return static_cast<std::uint32_t>(values_.size()); }
  const Own& own(std::uint32_t k) const { return own_[k]; }
  const Value& value(std::uint32_t k) const { return values_[k]; }
  std::span<const std::uint32_t> inputs(std::uint32_t own) const {
    return {inputs_.data() + own_[own].first_input, own_[own].inputs};
  }
  std::span<const std::uint32_t> readers(std::uint32_t value) const {
    return {readers_.data() + values_[value].first_reader, values_[value].readers};
  }
  std::span<const int> ranks_of(std::uint32_t value) const {
    return {ranks_.data() + values_[value].first_rank, values_[value].ranks};
  }
  /// Number of the value of a task; InternalError if this rank neither computes nor reads it.
  std::uint32_t value_of(std::int64_t task) const;
  bool knows(std::int64_t task) const;
  int home(std::int64_t task) const { return homes_[task]; }
  /// Size of the largest value sent between ranks.
  std::size_t largest_sent() const { return largest_sent_; }

 private:
  void number_values(const TaskGraph& graph, const std::vector<std::int64_t>& order, int rank);
  void lay_out(const TaskGraph& graph, const std::vector<std::int64_t>& order, int rank);

  std::vector<int> homes_;
  std::vector<std::int32_t> place_;  ///< of a task's value; -1: not of this rank
  std::vector<Own> own_;
  std::vector<Value> values_;
  std::vector<std::uint32_t> inputs_, readers_;
  std::vector<int> ranks_;
  std::size_t largest_sent_ = 0;
};

}  // namespace cambium::tasks
