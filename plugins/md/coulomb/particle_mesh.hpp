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
/// brick of mesh points within their support. The bricks are summed into slabs, which all ranks transform together: no
/// rank holds the whole mesh. Kernels run on the device; messages are staged through the host.
class ParticleMesh {
 public:
  /// Rebuilds the tables if the arguments have changed. `order`: 4, 6, 8, 10 or 12.
  void prepare(const Box& box, double alpha, const std::array<int, 3>& points, int order, const Comm&);

  /// Adds forces of owned atoms and the requested outputs; each rank adds the virial of its own modes. Call prepare()
  /// first. Collective. charge (e): of every owned row.
  void compute(const Particles&, const View<const double*>& charge, const ForceRequest&, ForceOutput&, const Comm&);

  /// Memory of this rank's meshes: values, waves, tables and work arrays.
  std::int64_t bytes() const;
  /// Mesh points within the support of the own atoms in the last compute().
  const MeshBrick& brick() const { return patch_.brick(); }

  // Public, because nvcc does not accept kernels in private members.
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
  View<double*> patch_values_;  ///< of the brick; on a single rank: the slab itself
  View<double*> charge_waves_, potential_waves_;
  View<double* [4]> green_;  ///< eV/e^2 times the points, of an own mode and the signs (x, y) = ++, -+, +-, --
};

}  // namespace cambium::md
