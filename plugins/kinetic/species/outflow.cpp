#include "plugins/kinetic/species/outflow.hpp"

#include <cmath>

namespace cambium::kinetic {

/// Modes that an integral over a face of v_d f sees, with the mode's value on the face and which factor of v it meets.
struct FaceMode {
  int mode;
  double value;
  bool linear;  ///< in v_d
};

static std::vector<FaceMode> modes_on(const BasisInfo& basis, int d, bool high) {
  std::vector<FaceMode> out;
  for (int k = 0; k < basis.modes; ++k) {
    const auto& e = basis.exponents[k];
    bool seen = e[basis.cdim + d] <= 1;
    for (int a = 0; a < basis.cdim + basis.vdim; ++a) seen &= a == d || a == basis.cdim + d || e[a] == 0;
    if (seen)
      out.push_back({k, std::sqrt(0.5 * (2 * e[d] + 1)) * (!high && e[d] % 2 ? -1.0 : 1.0), e[basis.cdim + d] == 1});
  }
  return out;
}

double outflow(const Solver& solver, int slot, int d, bool high) {
  const PhaseGrid& grid = solver.grid();
  const Axis &x = grid.conf(d), &v = grid.velocity(d);
  if (high ? x.first + x.count != x.cells : x.first != 0) return 0.0;
  solver.to_host_const(slot);
  const auto modes = modes_on(solver.basis(), d, high);
  // With psi_0 = sqrt(1/2), psi_1 = sqrt(3/2) xi and v = w + h xi: integral(v psi_0) = sqrt(2) w, integral(v psi_1) =
  // sqrt(2/3) h.
  double jacobian = 0.5 * v.width();
  for (int a = 0; a < grid.dimensions(); ++a)
    if (a != d && a != grid.cdim + d) jacobian *= std::sqrt(2.0) * 0.5 * grid.axis[a].width();
  std::vector<double> f(solver.basis().modes);
  double sum = 0.0;
  for (int ic = 0; ic < grid.local_conf_cells(); ++ic) {
    if (grid.local_conf(ic)[d] != (high ? x.count - 1 : 0)) continue;
    for (int iv = 0; iv < grid.local_velocity_cells(); ++iv) {
      const double w = v.centre(v.first + grid.local_velocity(iv)[d]);
      if ((w > 0.0) != high) continue;
      solver.get(slot, ic, iv, f.data());
      for (const auto& m : modes)
        sum += f[m.mode] * m.value * (m.linear ? std::sqrt(2.0 / 3.0) * 0.5 * v.width() : std::sqrt(2.0) * w);
    }
  }
  return (high ? 1.0 : -1.0) * jacobian * sum;
}

}  // namespace cambium::kinetic
