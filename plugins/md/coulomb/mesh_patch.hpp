#pragma once
#include <cmath>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/particles/particles.hpp"
#include "plugins/md/coulomb/mesh_waves.hpp"

namespace cambium::md {

/// Mesh point at or below the fractional coordinate `s` of an atom, of n points along an axis; `u` is set to the
/// coordinate in units of points, 0 <= u <= n.
KOKKOS_INLINE_FUNCTION int first_point(double s, int n, double& u) {
  u = n * (s - std::floor(s));
  const int first = static_cast<int>(u);
  return first > n - 1 ? n - 1 : first;
}

/// Mesh points within the support of the splines of a rank's atoms: a brick that may cross the faces of the cell.
struct MeshBrick {
  int first[3] = {0, 0, 0}, count[3] = {0, 0, 0};

  std::int64_t points() const { return std::int64_t{count[0]} * count[1] * count[2]; }
  /// Index within the brick of point -n < `point` < n along axis `d` of n points.
  KOKKOS_INLINE_FUNCTION int local(int d, int point, int n) const {
    int at = point - first[d];
    while (at < 0) at += n;
    return at;
  }
};

/// Bricks of all ranks, and transfer of their values to the slabs of MeshWaves and back.
class MeshPatch {
 public:
  /// Determines the own brick and exchanges those of all ranks. A single rank has the whole mesh. Collective.
  void place(const Particles& particles, const std::array<int, 3>& points, int order, const Comm& comm);
  const MeshBrick& brick() const { return bricks_[static_cast<std::size_t>(rank_)]; }

  /// slab = sum of the ranks' patches, in rank order. Collective.
  void add_up(const View<const double*>& patch, const MeshWaves& waves, const View<double*>& slab,
              const Comm& comm) const;
  /// patch = values of the slabs of all ranks. Collective.
  void fetch(const View<const double*>& slab, const MeshWaves& waves, const View<double*>& patch,
             const Comm& comm) const;

 private:
  /// Calls f(plane of the brick of rank `owner`, plane of x) for the planes that rank `holder` holds.
  template <class F>
  void common_planes(int owner, int holder, const Comm& comm, const F& f) const;
  std::int64_t common_values(int owner, int holder, const Comm& comm) const;

  int rank_ = 0;
  std::array<int, 3> n_{};
  std::vector<MeshBrick> bricks_;
};

}  // namespace cambium::md
