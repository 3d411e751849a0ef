#pragma once
#include "core/pair/forces.hpp"

namespace cambium {

/// What a network on the graph of atoms found, on its way into a ForceOutput: forces and virials of edges, energies of
/// atoms, added in host memory, in the order in which they come.
class EdgeForces {
 public:
  /// Starts from what `out` holds. Both stay as long as this lives.
  EdgeForces(const ForceRequest& request, ForceOutput& out);

  /// `gradient`: eV/Å, of the energy by the vector from row `j` to row `i`; `vector`: this vector, Å. An edge's virial
  /// is shared by its two atoms.
  void add_edge(int i, int j, const double gradient[3], const double vector[3]);
  /// eV, of an owned atom; nothing where nobody asked for energies.
  void add_energy(int i, double energy);
  /// Brings forces, and what was asked for of each atom, back to `out`.
  void finish();

 private:
  const ForceRequest& request_;
  ForceOutput& out_;
  HostView<double* [3]> f_;
  HostView<double*> atom_energy_;
  HostView<double* [9]> atom_virial_;
};

}  // namespace cambium
