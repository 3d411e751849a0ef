#pragma once
#include <string_view>

#include "core/parallel/context.hpp"

namespace cambium {

/// One stage of a deck: simulate, train, evaluate, search.
class Task {
 public:
  using Kind = Task;
  static constexpr std::string_view kind = "task";
  virtual ~Task() = default;
  /// Constructs everything, reports it through the log, runs nothing, writes nothing.
  virtual void check(Context&) = 0;
  /// Everything a stage does, its checkpoints and last page included.
  enum class Outcome { done, stopped_early };
  virtual Outcome run(Context&) = 0;
};

}  // namespace cambium
