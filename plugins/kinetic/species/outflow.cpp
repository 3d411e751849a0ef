#include "plugins/kinetic/species/outflow.hpp"

#include <cmath>

#include "plugins/kinetic/collisions/packs.hpp"

namespace cambium::kinetic {

/// Modes that contribute to an integral over a face of v_d f, with the mode's value on the face and its factor if the
/// velocity cell has the centre w and the width b: slope * w, or constant * b.
struct FaceModes {
  static constexpr int most = 6;  ///< degrees 0 to 2 along x_d, 0 and 1 along v_d
  int count = 0, mode[most] = {};
  double value[most] = {}, slope[most] = {}, constant[most] = {};
};

// With psi_0 = sqrt(1/2), psi_1 = sqrt(3/2) xi and v = w + h xi: integral(v psi_0) = sqrt(2) w, integral(v psi_1) =
// sqrt(2/3) h.
static FaceModes modes_on(const BasisInfo& basis, int d, bool high) {
  FaceModes out;
  for (int k = 0; k < basis.modes; ++k) {
    const auto& e = basis.exponents[k];
    bool seen = e[basis.cdim + d] <= 1;
    for (int a = 0; a < basis.cdim + basis.vdim; ++a) seen &= a == d || a == basis.cdim + d || e[a] == 0;
    if (!seen) continue;
    out.mode[out.count] = k;
    out.value[out.count] = std::sqrt(0.5 * (2 * e[d] + 1)) * (!high && e[d] % 2 ? -1.0 : 1.0);
    if (e[basis.cdim + d] == 1)
      out.constant[out.count] = std::sqrt(2.0 / 3.0) * 0.5;
    else
      out.slope[out.count] = std::sqrt(2.0);
    ++out.count;
  }
  return out;
}

/// Adds what a cell at the wall, one of `side` of configuration space, contributes.
template <class T>
struct OutflowOfCell {
  Packs<T> cells;
  View<int*> side;
  View<double*> centre, width;  ///< along the velocity dimension
  View<double*> volume;         ///< of velocity cells
  FaceModes modes;
  int dimension;
  bool high;

  CAMBIUM_FN void operator()(std::int64_t i, double& sum) const {
    const Layout& layout = cells.layout;
    const int iv = static_cast<int>(i % layout.velocity_cells);
    const int place = layout.velocity_place(iv, dimension);
    const double w = centre(place), b = width(place);
    if ((w > 0.0) != high) return;
    double here = 0.0;
    const InBlocks at(layout, side(i / layout.velocity_cells));
    const T* f = cells.pack(at.block, iv) + at.lane;
    for (int m = 0; m < modes.count; ++m)
      here += static_cast<double>(f[modes.mode[m] * Packs<T>::width]) * modes.value[m] *
              (modes.slope[m] == 0.0 ? modes.constant[m] * b : modes.slope[m] * w);
    sum += volume(iv) * here;
  }
};

double outflow(const Solver& solver, int slot, int d, bool high) {
  const PhaseGrid& grid = solver.grid();
  const Axis &x = grid.conf(d), &v = grid.velocity(d);
  if (high ? x.first + x.count != x.cells : x.first != 0) return 0.0;
  double jacobian = 0.5;
  for (int a = 0; a < grid.dimensions(); ++a)
    if (a != d && a != grid.cdim + d) jacobian *= std::sqrt(2.0) * 0.5 * (a < grid.cdim ? grid.axis[a].width() : 1.0);
  std::vector<int> side;
  for (int ic = 0; ic < grid.local_conf_cells(); ++ic)
    if (grid.local_conf(ic)[d] == (high ? x.count - 1 : 0)) side.push_back(ic);
  std::vector<double> centre, width, volume;
  for (int i = v.first; i < v.first + v.count; ++i) {
    centre.push_back(v.centre(i));
    width.push_back(v.width(i));
  }
  for (int iv = 0; iv < grid.local_velocity_cells(); ++iv) volume.push_back(grid.velocity_volume(iv));
  double sum = 0.0;
  in_precision(solver, [&](auto number) {
    using T = decltype(number);
    const OutflowOfCell<T> kernel{packs_of<T>(solver, slot),
                                  on_device("kinetic: cells at a wall", side),
                                  on_device("kinetic: velocities", centre),
                                  on_device("kinetic: widths", width),
                                  on_device("kinetic: volumes", volume),
                                  modes_on(solver.basis(), d, high),
                                  d,
                                  high};
    const auto cells = static_cast<std::int64_t>(side.size()) * grid.local_velocity_cells();
    Kokkos::parallel_reduce("kinetic: outflow", PackRange(0, cells), kernel, Kokkos::Sum<double>(sum));
  });
  return (high ? 1.0 : -1.0) * jacobian * sum;
}

}  // namespace cambium::kinetic
