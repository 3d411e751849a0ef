#pragma once
#include "core/parallel/kokkos.hpp"

namespace cambium {

/// Options of the caller beyond forces. Kernels are free to skip the rest.
struct ForceRequest {
  bool totals = true;          ///< energy and virial of this rank
  bool per_atom = false;       ///< per-atom energies and virials (implies totals)
  bool only_energies = false;  ///< with per_atom: the virials are not used, and may be left out by a potential without
};

/// Accumulator for the results of a potential.
struct ForceOutput {
  View<double* [3]> f;  ///< eV/Å, owned and ghost rows; what is there stays and is added to; ghost rows are summed to
                        ///< their owners by the caller when Potential::writes_ghost_forces()
  double energy = 0.0;  ///< eV, owned atoms of this rank
  double virial[9] = {};          ///< eV, W_ab = -sum dE/dr_a r_b, row-major; pressure = (2 E_kin/3 + tr W/3) / V
  View<double*> atom_energy;      ///< eV, owned rows (when per_atom)
  View<double* [9]> atom_virial;  ///< eV, owned and ghost rows (when per_atom), ghosts summed by the caller
};

}  // namespace cambium
