#include "core/run/advance.hpp"

namespace cambium {

void advance(const Schedule& schedule, const Physics& physics, State& state, Timing& timing, bool observe) {
  StepInfo info;
  info.step = state.step + 1;
  info.dt = physics.timestep(state);
  info.time = state.time + info.dt;
  info.observe = observe;
  for (const auto& task : schedule.tasks()) {
    const auto timer = timing.scope(std::string_view(task.name).substr(0, task.name.find(':')));
    task.run(state, info);
  }
  state.step = info.step;
  state.time += info.dt;
}

}  // namespace cambium
