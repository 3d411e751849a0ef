#pragma once
#include "core/pair/forces.hpp"

namespace cambium {

/// Collects the results of a network on the graph of atoms for a ForceOutput: forces and virials of edges, energies of
/// atoms, added in host memory, in call order.
class EdgeForces {
 public:
  /// Starts from the content of `out`. Both must outlive this object.
  EdgeForces(const ForceRequest& request, ForceOutput& out);

  /// `gradient`: eV/Å, of the energy by the vector from row `j` to row `i`; `vector`: this vector, Å. An edge's virial
  /// is shared by its two atoms.
  void add_edge(int i, int j, const double gradient[3], const double vector[3]);
  /// eV, of an owned atom; does nothing if energies were not requested.
  void add_energy(int i, double energy);
  /// Copies forces, and the requested per-atom values, back to `out`.
  void finish();

 private:
  const ForceRequest& request_;
  ForceOutput& out_;
  HostView<double* [3]> f_;
  HostView<double*> atom_energy_;
  HostView<double* [9]> atom_virial_;
};

}  // namespace cambium
