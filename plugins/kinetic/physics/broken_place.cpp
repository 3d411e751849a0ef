#include "plugins/kinetic/physics/broken_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"

namespace cambium::kinetic {

/// Collective. Global index of the cell of the first moment that is not finite; -1 if all are.
static int broken_cell(const Species& species, const Comm& comm) {
  const auto per_cell = static_cast<std::ptrdiff_t>(species.components()) * species.conf().modes();
  const double none = species.conf().whole_count();
  for (int slot : {1, 2, 0}) {
    const auto& moments = species.moments(slot);
    const auto bad = std::find_if(moments.begin(), moments.end(), [](double m) { return !std::isfinite(m); });
    const auto cell = static_cast<int>((bad - moments.begin()) / per_cell);
    const double first = comm.min(bad == moments.end() ? none : species.conf().index(species.conf().place(cell)));
    if (first < none) return static_cast<int>(first);
  }
  return -1;
}

static bool holds(const PhaseGrid& grid, const std::array<int, 3>& place) {
  for (int d = 0; d < grid.cdim; ++d)
    if (place[d] < grid.conf(d).first || place[d] >= grid.conf(d).first + grid.conf(d).count) return false;
  return true;
}

/// "'electron' in cell [3, 0] (x = 0.7, y = 0.1) on rank 2"; empty where all moments of the species are finite.
static std::string broken_place(const Species& species, const Comm& comm) {
  const int cell = broken_cell(species, comm);
  if (cell < 0) return {};
  const auto place = species.conf().whole().place(cell);
  const auto& grid = species.solver().grid();
  std::string numbers, where;
  for (int d = 0; d < grid.cdim; ++d) {
    numbers += fmt::format("{}{}", d ? ", " : "", place[d]);
    where += fmt::format("{}{} = {:.6g}", d ? ", " : "", "xyz"[d], grid.conf(d).centre(place[d]));
  }
  const double owner = comm.min(static_cast<double>(holds(grid, place) ? comm.rank() : comm.size()));
  return fmt::format("'{}' in cell [{}] ({}) on rank {:.0f}", species.name(), numbers, where, owner);
}

/// Collective. The same of a fluid in which density or pressure is not positive.
static std::string broken_place(const Fluid& fluid, const Comm& comm) {
  std::string place = fluid.broken_place();
  const int lowest = comm.size() - comm.max(place.empty() ? 0 : comm.size() - comm.rank());
  if (lowest == comm.size()) return {};
  comm.broadcast(place, lowest);
  return fmt::format("'{}' in cell {} on rank {}", fluid.name(), place, lowest);
}

void require_finite(double frequency, const Plasma& plasma, double time, const StepInfo& info, const Comm& comm) {
  if (std::isfinite(frequency)) return;
  std::string where;
  for (const auto& s : plasma.species())
    if (where.empty()) where = broken_place(*s, comm);
  for (const auto& s : plasma.fluids())
    if (const auto place = where.empty() ? broken_place(*s, comm) : ""; !place.empty())
      throw NumericalError(
          fmt::format("density or pressure of a fluid is not positive any more at step {}, time {:.6g}: that of {}; "
                      "take more cells, a smaller 'cfl' or 'limiter: minmod', and check what the deck lets grow",
                      info.step, time, place));
  throw NumericalError(
      fmt::format("the distribution function is not finite any more at step {}, time {:.6g}{}; take more cells or a "
                  "smaller 'cfl', and check what the deck lets grow",
                  info.step, time, where.empty() ? "" : ": that of " + where));
}

void require_progress(double time, const StepInfo& info) {
  if (time + info.dt > time) return;
  throw NumericalError(
      fmt::format("step {} is {:.3g} long at time {:.6g}, which does not advance any more: a speed or a field grows "
                  "without bound; check what the deck lets grow, and take more cells",
                  info.step, info.dt, time));
}

void in_step(double time, const StepInfo& info, const std::function<void()>& action) {
  try {
    action();
  } catch (const NumericalError& error) {
    throw NumericalError(fmt::format("step {}, time {:.6g}: {}", info.step, time, error.what()), error.elsewhere());
  }
}

}  // namespace cambium::kinetic
