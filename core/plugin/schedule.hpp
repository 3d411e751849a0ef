#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/particles/state.hpp"

namespace cambium {

struct StepInfo {
  std::int64_t step = 0;  ///< the step being made; after it the state is at `step`
  double dt = 0.0;        ///< of the physics' timestep(); a task that had to take a shorter step sets the actual one
  double time = 0.0;      ///< at the end of the step; follows dt
  bool observe = false;   ///< energies and virial are requested after this step
};

/// One time step as a plain list that reads like the algorithm. Every task declares its reads and writes as names of
/// declared fields; `cambium check` prints and checks them.
class Schedule {
 public:
  struct Task {
    std::string name;  ///< also its row in the timing table: "section: detail" counts under "section"
    std::vector<std::string> reads, writes;
    std::function<void(State&, StepInfo&)> run;
  };
  void add(Task task) { tasks_.push_back(std::move(task)); }
  const std::vector<Task>& tasks() const { return tasks_; }

 private:
  std::vector<Task> tasks_;
};

}  // namespace cambium
