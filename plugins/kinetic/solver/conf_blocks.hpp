#pragma once
#include <cmath>

#include "core/parallel/kokkos.hpp"
#include "plugins/kinetic/solver/layout.hpp"
#include "plugins/kinetic/solver/solver.hpp"

namespace cambium::kinetic {

/// Positions of this rank's cells of configuration space in blocks, and transfers between arrays over them and blocks
/// of T, for the kernels K in packs of `width`.
template <class K, class T, int width>
struct ConfBlocks {
  static constexpr int field_rows = (K::vdim + K::pairs) * K::conf, moments = (K::vdim + 2) * K::conf;
  const PhaseGrid& grid;
  const Layout& layout;

  std::int64_t address(int conf, int velocity) const {
    const auto c = grid.local_conf(conf);
    int rest = 0;
    for (int d = 1; d < grid.cdim; ++d) rest = rest * grid.axis[d].count + c[d];
    return layout.cell(layout.block_of(c[0], rest), velocity) * width + layout.lane_of(c[0]);
  }

  /// Scaled coefficients per pack: (q/m)(2/dv_d) E_d, and (q/m)(2/dv_d) times the part of B that v_e meets along d.
  void load_fields(const ForceField& force, const View<T*>& fields) const {
    if (!force.any()) return;
    auto host = Kokkos::create_mirror_view(fields);
    for (int cell = 0; cell < grid.local_conf_cells(); ++cell) {
      const auto at = grid.local_conf(cell);
      int rest = 0, row = 0;
      for (int d = 1; d < grid.cdim; ++d) rest = rest * grid.axis[d].count + at[d];
      T* to = host.data() + std::int64_t{layout.block_of(at[0], rest)} * field_rows * width + layout.lane_of(at[0]);
      const std::int64_t from = std::int64_t{cell} * K::conf;
      auto put = [&](const double* field, double factor) {
        for (int k = 0; k < K::conf; ++k)
          to[(row * K::conf + k) * width] = field ? static_cast<T>(factor * field[from + k]) : T(0);
        ++row;
      };
      for (int d = 0; d < K::vdim; ++d) put(force.electric[d], force.charge_over_mass * 2.0 / layout.dv[d]);
      for (int d = 0; d < K::vdim; ++d)
        for (int e = 0; e < K::vdim; ++e)
          if (e != d) {
            const int c = 3 - d - e;
            const double sign = (e - d + 3) % 3 == 1 ? 1.0 : -1.0;  // (v x B)_d = v_{d+1} B_{d+2} - v_{d+2} B_{d+1}
            put(force.magnetic[c], sign * force.charge_over_mass * 2.0 / layout.dv[d] / layout.scale(e));
          }
    }
    Kokkos::deep_copy(fields, host);
  }

  /// Adds what the kernels summed, in physical units, to an array over this rank's cells of configuration space.
  void collect(const View<double*>& summed, std::vector<double>& out) const {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), summed);
    double jacobian = 1.0;
    for (int d = 0; d < K::vdim; ++d) jacobian *= std::sqrt(2.0) * 0.5 * layout.dv[d];
    for (int cell = 0; cell < grid.local_conf_cells(); ++cell) {
      const auto at = grid.local_conf(cell);
      int rest = 0;
      for (int d = 1; d < grid.cdim; ++d) rest = rest * grid.axis[d].count + at[d];
      const std::int64_t from = std::int64_t{layout.block_of(at[0], rest)} * moments * width + layout.lane_of(at[0]);
      double* to = out.data() + std::int64_t{cell} * moments;
      for (int k = 0; k < moments; ++k) to[k] += jacobian * host(from + std::int64_t{k} * width);
    }
  }
};

}  // namespace cambium::kinetic
