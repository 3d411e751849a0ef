#pragma once
// Velocity grids of tests, and the cells of a run on one of them.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "plugins/kinetic/deck/velocity_grid.hpp"
#include "plugins/kinetic/species/species.hpp"

namespace cambium::kinetic {

inline SpacingParams stretch(const std::string& share) { return {{}, "", share}; }
inline SpacingParams mapping(const std::string& formula) { return {{}, formula, ""}; }
inline SpacingParams edges(std::vector<std::string> all) { return {std::move(all), "", ""}; }

/// Every second cell half as wide as its neighbours: nothing that depends on a mean width is right here.
inline SpacingParams uneven(double reach, int cells) {
  std::vector<std::string> all;
  for (int k = 0; k <= cells; ++k) {
    const int pairs = k / 2;
    all.push_back(fmt::format("{:.17g}", reach * (2.0 * (3.0 * pairs + k % 2) / (1.5 * cells) - 1.0)));
  }
  all[cells / 2] = "0";
  return edges(all);
}

/// Coefficients of all cells of this rank.
inline std::vector<double> cells_of(const Species& s) {
  const auto& solver = s.solver();
  solver.to_host_const(0);
  std::vector<double> out, f(solver.basis().modes);
  for (int ic = 0; ic < solver.grid().local_conf_cells(); ++ic)
    for (int iv = 0; iv < solver.grid().local_velocity_cells(); ++iv) {
      solver.get(0, ic, iv, f.data());
      out.insert(out.end(), f.begin(), f.end());
    }
  return out;
}

}  // namespace cambium::kinetic
