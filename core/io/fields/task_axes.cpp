#include "core/io/fields/task_axes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.hpp"

namespace cambium::io {

std::vector<std::string> axes_of_task(const Dataset& task) {
  std::vector<std::string> names;
  if (task.has_attribute("DIMENSION_LABELS")) names = task.attribute<std::vector<std::string>>("DIMENSION_LABELS");
  if (!task.has_attribute("grid_space")) return names;
  const auto on_grid = task.attribute<std::vector<int>>("grid_space");
  if (std::find(on_grid.begin(), on_grid.end(), 0) != on_grid.end())
    throw InputError(
        fmt::format("'{}' in '{}' holds coefficients of a basis{}, expected values at points; save the task with "
                    "layout='g'",
                    task.path(), task.file(), names.empty() ? "" : fmt::format(" ({})", fmt::join(names, ", "))));
  return names;
}

}  // namespace cambium::io
