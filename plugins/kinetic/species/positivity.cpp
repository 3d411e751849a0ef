#include "plugins/kinetic/species/positivity.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::kinetic {

Positivity::Positivity(const Solver& solver) : modes_(solver.basis().modes) {
  const auto& exponents = solver.basis().exponents;
  const int dims = solver.grid().dimensions();
  const Projection rule(exponents, solver.basis().order + 1);
  for (int q = 0; q < rule.nodes(); ++q, ++points_)
    for (int k = 0; k < modes_; ++k) basis_.push_back(rule.basis(q, k));
  for (int corner = 0; corner < 1 << dims; ++corner, ++points_)
    for (int k = 0; k < modes_; ++k) {
      double value = 1.0;
      for (int d = 0; d < dims; ++d) value *= legendre(exponents[k][d], corner >> d & 1 ? 1.0 : -1.0);
      basis_.push_back(value);
    }
}

std::int64_t Positivity::act(Solver& solver) {
  solver.to_host_const(0);
  const auto& grid = solver.grid();
  std::vector<double> f(modes_);
  std::int64_t changed = 0;
  for (int ic = 0; ic < grid.local_conf_cells(); ++ic)
    for (int iv = 0; iv < grid.local_velocity_cells(); ++iv) {
      solver.get(0, ic, iv, f.data());
      const double mean = f[0] * basis_[0];  // the first mode is constant
      double lowest = mean;
      for (int p = 0; p < points_; ++p) {
        double value = 0.0;
        for (int k = 0; k < modes_; ++k) value += f[k] * basis_[static_cast<std::size_t>(p) * modes_ + k];
        lowest = std::min(lowest, value);
      }
      if (lowest >= -1e-14 * std::abs(mean)) continue;
      if (mean <= 0.0) {
        ++negative_;
        continue;
      }
      const double theta = mean / (mean - lowest);
      for (int k = 1; k < modes_; ++k) f[k] *= theta;
      solver.set(0, ic, iv, f.data());
      ++changed;
    }
  changed_ += changed;
  return changed;
}

}  // namespace cambium::kinetic
