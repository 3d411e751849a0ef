#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/parallel/context.hpp"
#include "core/parallel/ghost_exchange.hpp"
#include "core/state/neighbors.hpp"
#include "core/state/particles.hpp"

namespace cambium {

/// A work that a result rests on; entries used by a run go into its cite.bib.
struct Citation {
  std::string_view key;
  std::string_view bibtex;
};

/// What the caller wants beyond forces. Kernels are free to skip the rest.
struct ForceRequest {
  bool totals = true;     ///< energy and virial of this rank
  bool per_atom = false;  ///< per-atom energies and virials (implies totals)
};

/// Where a potential adds its results.
struct ForceOutput {
  View<double* [3]> f;  ///< eV/Å, owned and ghost rows; what is there stays and is added to; ghost rows are summed to
                        ///< their owners by the caller when Potential::writes_ghost_forces()
  double energy = 0.0;  ///< eV, owned atoms of this rank
  double virial[9] = {};          ///< eV, W_ab = -sum dE/dr_a r_b, row-major; pressure = (2 E_kin/3 + tr W/3) / V
  View<double*> atom_energy;      ///< eV, owned rows (when per_atom)
  View<double* [9]> atom_virial;  ///< eV, owned and ghost rows (when per_atom), ghosts summed by the caller
};

/// An interatomic potential: neighbour list in; energies, forces, virial out. Units metal: eV, Å.
class Potential {
 public:
  using Kind = Potential;
  static constexpr std::string_view kind = "potential";
  virtual ~Potential() = default;

  /// Called once before the first compute: binds the deck's species to the potential's own types; throws InputError
  /// naming the species it does not know and those that it does.
  virtual void bind(std::span<const Species> species) = 0;
  /// Largest interaction range (Å).
  virtual double cutoff() const = 0;
  /// True when compute() adds to the force rows of ghosts.
  virtual bool writes_ghost_forces() const { return false; }
  /// Adds energies and forces of the current positions. The list may be longer than the cut-off (skin).
  virtual void compute(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&,
                       Context&) = 0;
  /// One line for the banner: parameters in use, error of the cut-off, table error.
  virtual std::string summary() const { return {}; }
  virtual std::vector<Citation> citations() const { return {}; }
};

}  // namespace cambium
