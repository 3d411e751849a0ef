#include "plugins/relate/tasks/bound_search.hpp"

#include <algorithm>

namespace cambium::relate {

FoundBounds search_bounds(std::size_t tables, const BoundRange& range, double tolerance,
                          const std::function<double(std::span<const double> bounds)>& score) {
  FoundBounds out{std::vector<double>(tables, 0.0), std::vector<double>(tables, 0.0)};
  std::vector<double> alone(tables, 0.0);
  out.exact = score(alone);
  const auto fall_of = [&](std::size_t table, double bound) {
    alone[table] = bound;
    const double fall = bound > 0.0 ? out.exact - score(alone) : 0.0;
    alone[table] = 0.0;
    return fall;
  };
  for (std::size_t t = 0; t < tables; ++t)
    for (double bound = range.least; bound <= range.most * (1.0 + 1e-9); bound *= 2.0) {
      const double fall = fall_of(t, bound);
      if (!(fall < tolerance)) break;
      out.bound[t] = bound;
      out.fall[t] = fall;
    }
  for (out.together = score(out.bound); !(out.exact - out.together < tolerance); out.together = score(out.bound)) {
    std::size_t worst = tables;
    for (std::size_t t = 0; t < tables; ++t)
      if (out.bound[t] > 0.0 && (worst == tables || out.fall[t] > out.fall[worst])) worst = t;
    if (worst == tables) break;
    const double half = 0.5 * out.bound[worst];
    out.bound[worst] = half < range.least * (1.0 - 1e-9) ? 0.0 : half;
    out.fall[worst] = fall_of(worst, out.bound[worst]);
  }
  return out;
}

}  // namespace cambium::relate
