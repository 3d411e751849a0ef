#pragma once
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/cost.hpp"
#include "core/plugin/potential.hpp"
#include "plugins/md/eam/eam_file.hpp"

namespace cambium::md {

/// Embedded-atom method with tables from a file; M. S. Daw and M. I. Baskes, Phys. Rev. B 29, 6443 (1984):
///   E = sum_i F_i(rho_i) + 1/2 sum_ij phi_ij(r_ij),  rho_i = sum_j rho_j(r_ij),
/// and with densities of two elements (M. W. Finnis and J. E. Sinclair, Phil. Mag. A 50, 45 (1984)) rho_i = sum_j
/// rho_ji(r_ij). F is extrapolated linearly above its last point. Interpolation as in LAMMPS.
class Eam : public Potential, public CostsPerAtom {
 public:
  struct Params {
    std::string file;
    EamFormat format = EamFormat::automatic;
    std::vector<std::string> species;  ///< the file's elements in its order, as named in the deck; empty: its own names
    static void describe(deck::Describe<Params>& d) {
      d("file", &Params::file,
        "table of the embedded-atom method: funcfl, setfl (.eam.alloy) or Finnis-Sinclair (.eam.fs)")
          .example("NiAl.eam.alloy");
      d("format", &Params::format,
        "layout of the file; auto: finnis_sinclair for a name that ends with .fs, else by the fourth line")
          .options({{"auto", EamFormat::automatic},
                    {"funcfl", EamFormat::funcfl},
                    {"setfl", EamFormat::setfl},
                    {"finnis_sinclair", EamFormat::finnis_sinclair}})
          .def(EamFormat::automatic);
      d("species", &Params::species, "species of the file's elements, in the file's order; left out, the file's names")
          .def({});
    }
  };

  /// Interpolated tables of the deck's species, one after the other, indexed by type.
  struct Tables {
    int types = 0, nrho = 0, nr = 0;
    double inverse_drho = 0.0, inverse_dr = 0.0, drho = 0.0;
    double cutoff = 0.0;
    View<double*> embedding;  ///< types tables
    View<double*> density;    ///< of (source, site): types^2 tables
    View<double*> pair;       ///< of r phi: types^2 tables
  };

  /// Reads the file, except in a dry run one that an earlier stage writes. InputError names the file and the error.
  Eam(const Params& params, Context& context);

  void bind(std::span<const Species> species) override;
  double cutoff() const override { return file_.cutoff; }
  void compute(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&,
               Context&) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;
  /// Two passes over the neighbours: one table, then three.
  AtomCost atom_cost(double neighbours) const override { return {70.0 * neighbours, 1.0}; }

  const EamFile& file() const { return file_; }

 private:
  Params params_;
  EamFile file_;
  Tables tables_;
  View<double*> slope_;  ///< dF/drho of every atom, eV
};

}  // namespace cambium::md
