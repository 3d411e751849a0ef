#include "core/run/schedule_check.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace cambium {

std::vector<std::string> describe_schedule(const Schedule& schedule, const State& state) {
  std::vector<std::string> lines;
  int number = 0;
  for (const auto& task : schedule.tasks()) {
    for (const auto* names : {&task.reads, &task.writes})
      for (const auto& name : *names)
        if (!state.find(name))
          throw InternalError(
              fmt::format("task '{}' names the field '{}', which no physics declared", task.name, name));
    lines.push_back(
        fmt::format("{:>3}. {:<28} reads {:<34} writes {}", ++number, task.name, join(task.reads), join(task.writes)));
  }
  return lines;
}

}  // namespace cambium
