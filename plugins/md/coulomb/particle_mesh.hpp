#pragma once
#include <array>
#include <optional>

#include "core/pair/forces.hpp"
#include "core/parallel/comm.hpp"
#include "core/particles/particles.hpp"
#include "plugins/md/coulomb/mesh_patch.hpp"
#include "plugins/md/coulomb/mesh_waves.hpp"
#include "plugins/md/coulomb/reciprocal.hpp"

namespace cambium::md {

/// Reciprocal part of an Ewald sum by the smooth particle-mesh method: U. Essmann et al., J. Chem. Phys. 103, 8577
/// (1995). Forces are the exact gradient of the mesh energy. Every rank spreads the charges of its own atoms on the
/// brick of points that they reach, the bricks are added up in slabs, and the slabs are transformed by all ranks
/// together: no rank holds the whole mesh. On a device by its kernels; messages go through the host.
class ParticleMesh {
 public:
  /// Remakes what depends on them where they have changed. `order`: 4, 6, 8, 10 or 12.
  void prepare(const Box& box, double alpha, const std::array<int, 3>& points, int order, const Comm&);

  /// Adds forces of owned atoms and what is requested; each rank adds the virial of its own
  /// modes. After prepare(). Collective. charge (e): of every owned row.
  void compute(const Particles&, const View<const double*>& charge, const ForceRequest&, ForceOutput&, const Comm&);

  /// Of the meshes of this rank: values, waves, tables and scratch.
  std::int64_t bytes() const;
  /// Points that the own atoms reached in the last compute().
  const MeshBrick& brick() const { return patch_.brick(); }

  // Public, because nvcc takes kernels from no other place.
  template <int order>
  void spread(const Particles&, const View<const double*>& charge);
  template <int order>
  void gather(const Particles&, const View<const double*>& charge, bool per_atom, ForceOutput&);
  template <int order>
  void gather_virial(const Particles&, const View<const double*>& charge, int a, int b, ForceOutput&);
  template <int component>
  void multiply(const View<const double*>& from, const View<double*>& to, double* virial) const;
  void tabulate_green();

 private:
  template <int order>
  void run(const Particles&, const View<const double*>& charge, const ForceRequest&, ForceOutput&, const Comm&);
  void find_patch(const Particles&, const Comm&);
  void to_patch(const Comm&);

  Box box_;
  Reciprocal reciprocal_;
  double alpha_ = 0.0;
  int order_ = 0;
  std::optional<MeshWaves> waves_;
  MeshPatch patch_;
  View<double*> slab_;          ///< own planes of the mesh
  View<double*> patch_values_;  ///< of the brick; a lone rank: the slab itself
  View<double*> charge_waves_, potential_waves_;
  View<double* [4]> green_;  ///< eV/e^2 times the points, of an own mode and the signs (x, y) = ++, -+, +-, --
};

}  // namespace cambium::md
