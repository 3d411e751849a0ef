#pragma once
#include <cmath>

#include "core/base/constants.hpp"
#include "plugins/kinetic/collisions/packs.hpp"

namespace cambium::kinetic {

/// Common part of the kernels of projected Maxwellians: packs of W cells as those of the distribution function, in
/// float64. Trivially copyable but for its arrays.
struct MaxwellianArrays {
  Layout layout;
  int conf_nodes = 1, nodes = 1, points = 1, longest = 1, conf = 1, first = 0;  ///< block that factors begin with
  View<double*> state;       ///< [block][conf node][density, mean velocity, squared thermal speed][lane]
  View<double*> speed;       ///< [velocity dimension][cell][point]
  View<double*> centre;      ///< [velocity dimension][cell]
  View<double*> factor;      ///< [block - first][conf node][velocity dimension][cell][point][lane]
  View<double*> weight;      ///< [node]
  View<double*> basis;       ///< [node][mode]
  View<double*> maxwellian;  ///< [block][velocity cell][mode][lane]
  View<double*> moment;      ///< [block][component][conf mode][lane]
  View<int*> seen;  ///< [conf mode][seen_most]: modes that contribute to moments up to the second; -1 at the end
  View<int*> along, degree;  ///< of each mode, where at most one velocity factor is not constant
  static constexpr int seen_most = 8;
  double jacobian = 1.0;  ///< common to all velocity cells: see Layout::dv
};

/// exp(-(v-u)^2/(2 vt^2)) / sqrt(2 pi vt^2) along a velocity dimension, in a cell of it, at a node of a block.
template <int W>
struct MaxwellianFactors {
  MaxwellianArrays a;

  CAMBIUM_FN void operator()(std::int64_t k) const {
    const int vdim = a.layout.vdim, i = static_cast<int>(k % a.longest), d = static_cast<int>(k / a.longest % vdim);
    const std::int64_t node = k / a.longest / vdim;  // of all blocks from the first one on
    if (i >= a.layout.nv[d]) return;
    const double* state = a.state.data() + (std::int64_t{a.first} * a.conf_nodes + node) * (std::int64_t{vdim} + 2) * W;
    for (int p = 0; p < a.points; ++p) {
      const double v = a.speed((d * a.longest + i) * a.points + p);
      double* to = a.factor.data() + (k * a.points + p) * W;
      for (int l = 0; l < W; ++l) {
        const double u = state[(1 + d) * W + l], vt2 = state[(1 + vdim) * W + l];
        to[l] = std::exp(-0.5 * (v - u) * (v - u) / vt2) / std::sqrt(2.0 * constants::pi * vt2);
      }
    }
  }
};

/// The projection onto the modes of a pack: all of them on a host, one for each thread of a device.
template <int W>
struct ProjectMaxwellian {
  MaxwellianArrays a;

  CAMBIUM_FN int parts() const { return device_is_host ? 1 : a.layout.modes; }
  /// At a node of phase space, times its weight.
  CAMBIUM_FN void value(int block, const int* place, int q, double* to) const {
    const int vdim = a.layout.vdim, at = q % a.conf_nodes;
    const double* density = a.state.data() + (std::int64_t{block} * a.conf_nodes + at) * (vdim + 2) * W;
    for (int l = 0; l < W; ++l) to[l] = density[l];
    const std::int64_t node = (std::int64_t{block} - a.first) * a.conf_nodes + at;
    for (int d = 0, rest = q / a.conf_nodes; d < vdim; ++d, rest /= a.points) {
      const double* factor =
          a.factor.data() + (((node * vdim + d) * a.longest + place[d]) * a.points + rest % a.points) * W;
      for (int l = 0; l < W; ++l) to[l] *= factor[l];
    }
    const double weight = a.weight(q);
    for (int l = 0; l < W; ++l) to[l] = weight * to[l];
  }
  CAMBIUM_FN void operator()(std::int64_t k) const {
    const int modes = a.layout.modes, nv = a.layout.velocity_cells;
    const std::int64_t pack = std::int64_t{a.first} * nv + k / parts();
    const int block = static_cast<int>(pack / nv), iv = static_cast<int>(pack % nv);
    int place[3] = {0, 0, 0};
    for (int d = 0; d < a.layout.vdim; ++d) place[d] = a.layout.velocity_place(iv, d);
    double* m = a.maxwellian.data() + pack * modes * W;
    double here[W];
    if constexpr (device_is_host) {
      for (int j = 0; j < modes * W; ++j) m[j] = 0.0;
      for (int q = 0; q < a.nodes; ++q) {
        value(block, place, q, here);
        const double* basis = a.basis.data() + q * modes;
        for (int j = 0; j < modes; ++j)
          for (int l = 0; l < W; ++l) m[j * W + l] += here[l] * basis[j];
      }
    } else {
      const int j = static_cast<int>(k % parts());
      double sum = 0.0;
      for (int q = 0; q < a.nodes; ++q) {
        value(block, place, q, here);
        sum += here[0] * a.basis(q * modes + j);
      }
      m[j] = sum;
    }
  }
};

/// M0, M1 and M2 of the projected Maxwellian: a team for each block and mode of configuration space.
template <int W>
struct MomentsOfMaxwellian {
  using Policy = Kokkos::TeamPolicy<ExecSpace>;
  MaxwellianArrays a;

  /// Adds those of a pack.
  CAMBIUM_FN void add(const double* f, int iv, const int* seen, double (*sum)[W]) const {
    const int vdim = a.layout.vdim;
    const double unit = a.jacobian * a.layout.velocity_volume(iv);
    for (int s = 0; s < MaxwellianArrays::seen_most && seen[s] >= 0; ++s) {
      const int k = seen[s], degree = a.degree(k), along = a.along(k);
      double value[W];
      for (int l = 0; l < W; ++l) value[l] = unit * f[k * W + l];
      const int place = a.layout.velocity_place(iv, along);
      const double w = a.centre(along * a.longest + place), h = 0.5 * a.layout.velocity_width(along, place);
      double* const energy = sum[1 + vdim];
      if (degree == 0) {
        for (int l = 0; l < W; ++l) sum[0][l] += value[l];
        for (int d = 0; d < vdim; ++d) {
          const int at = a.layout.velocity_place(iv, d);
          const double wd = a.centre(d * a.longest + at), hd = 0.5 * a.layout.velocity_width(d, at);
          for (int l = 0; l < W; ++l) {
            sum[1 + d][l] += wd * value[l];
            energy[l] += (wd * wd + hd * hd / 3.0) * value[l];
          }
        }
      } else if (degree == 1) {
        for (int l = 0; l < W; ++l) {
          sum[1 + along][l] += h / std::sqrt(3.0) * value[l];
          energy[l] += 2.0 * w * h / std::sqrt(3.0) * value[l];
        }
      } else if (degree == 2) {
        for (int l = 0; l < W; ++l) energy[l] += 2.0 / (3.0 * std::sqrt(5.0)) * h * h * value[l];
      }
    }
  }
  CAMBIUM_FN void operator()(const typename Policy::member_type& team) const {
    const int block = team.league_rank() / a.conf, mode = team.league_rank() % a.conf, nv = a.layout.velocity_cells,
              components = a.layout.vdim + 2;
    const int* seen = a.seen.data() + mode * MaxwellianArrays::seen_most;
    double sum[5][W] = {};
    for (int iv = team.team_rank(); iv < nv; iv += team.team_size())
      add(a.maxwellian.data() + (std::int64_t{block} * nv + iv) * a.layout.modes * W, iv, seen, sum);
    for (int c = 0; c < components; ++c)
      for (int l = 0; l < W; ++l) {
        double all = sum[c][l];
        team.team_reduce(Kokkos::Sum<double>(all));
        if (team.team_rank() == 0) a.moment(((std::int64_t{block} * components + c) * a.conf + mode) * W + l) = all;
      }
  }
};

/// f = f_M + (f - f_M) times what stays of the difference, [block][lane].
template <class T>
struct RelaxToMaxwellian {
  static constexpr int W = Packs<T>::width;
  Packs<T> cells;
  View<double*> maxwellian, stays;

  CAMBIUM_FN void operator()(std::int64_t k) const {
    const int modes = cells.layout.modes, nv = cells.layout.velocity_cells, parts = device_is_host ? 1 : modes;
    const std::int64_t pack = k / parts;
    const int block = static_cast<int>(pack / nv), first = static_cast<int>(k % parts);
    T* f = cells.pack(block, static_cast<int>(pack % nv));
    const double* m = maxwellian.data() + pack * modes * W;
    const double* stay = stays.data() + std::int64_t{block} * W;
    for (int j = first; j < (device_is_host ? modes : first + 1); ++j)
      for (int l = 0; l < W; ++l)
        f[j * W + l] = static_cast<T>(m[j * W + l] + (static_cast<double>(f[j * W + l]) - m[j * W + l]) * stay[l]);
  }
};

}  // namespace cambium::kinetic
