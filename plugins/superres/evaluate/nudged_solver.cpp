#include "plugins/superres/evaluate/nudged_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"
#include "plugins/superres/evaluate/flow_statistics.hpp"
#include "plugins/superres/evaluate/frame_solver.hpp"
#include "plugins/superres/samples/resampling.hpp"

namespace cambium::superres {
namespace {

void require_convection(const FieldData& coarse) {
  const auto& z = coarse.axis[2];
  double largest = 0.0;
  for (double b : coarse.values[1]) largest = std::max(largest, std::fabs(b));
  const HeatPath heat = heat_path(coarse, 1);
  const bool fits = coarse.period > 0.0 || (heat.along_x && heat.sign > 0.0);
  if (coarse.hidden.empty() && z.front() >= 0.0 && z.back() <= 1.0 && largest <= 0.75 && fits) return;
  const std::string reason = !coarse.hidden.empty() ? "hides points under a mask"
                             : largest > 0.75       ? fmt::format("has |b| up to {:.3g}", largest)
                             : !fits                ? "is heated between its walls otherwise than on the left one"
                                                    : fmt::format("spans z = {:g} to {:g}", z.front(), z.back());
  throw KeyError(
      "reconstruct.nudged", "nudged",
      fmt::format("'nudged' computes on with the flows of rayleigh_benard and cavity, 0 < z < 1 and b = -1/2 to 1/2 "
                  "without bodies, and '{}' {}: leave it out of 'methods'",
                  coarse.file, reason));
}

}  // namespace

FieldData nudged(const FieldData& coarse, const std::array<std::vector<double>, 3>& places, const Convected& flow) {
  require_convection(coarse);
  const Grid grid = grid_of(coarse, places);
  const double left = grid.periodic ? places[1].front() - 0.5 * grid.dx() : 0.0;
  FrameSolver solver(grid, fluid_of(flow, grid.periodic), left, coarse.axis[0].front(), "nudged");
  solver.add(frame_of(coarse, 0));
  FieldData out = coarse;
  out.axis = places;
  for (auto& values : out.values) values.clear();
  std::size_t next = 1;  // next coarse frame
  for (double time : places[0]) {
    for (; next < coarse.axis[0].size() && coarse.axis[0][next] <= time + 1e-9 * FrameSolver::longest_step; ++next) {
      solver.advance(coarse.axis[0][next]);
      solver.insert(frame_of(coarse, next));
    }
    solver.advance(time);
    const auto answer = resampled(resampled(solver.now(), 1, places[1], 4), 2, places[2], 4);
    for (std::size_t f = 0; f < out.values.size(); ++f)
      out.values[f].insert(out.values[f].end(), answer.values[f].begin(), answer.values[f].end());
  }
  return out;
}

}  // namespace cambium::superres
