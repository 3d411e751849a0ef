#pragma once
#include <optional>
#include <string>

#include "core/deck/describe.hpp"
#include "core/pair/switch_function.hpp"
#include "core/plugin/cost.hpp"
#include "core/plugin/potential.hpp"

namespace cambium::md {

/// Sutton-Chen many-body potential of fcc metals; A. P. Sutton and J. Chen, Phil. Mag. Lett. 61, 139 (1990):
///   E = eps sum_i [1/2 sum_j (a/r_ij)^n - c sqrt(rho_i)],  rho_i = sum_j (a/r_ij)^m.
/// Both powers are multiplied by the C2 SwitchFunction over the last `switch_width` before the cut-off. With `tail`,
/// both sums are continued in a uniform medium with the mean density of the cell, including the part removed by the
/// switch. One species.
class SuttonChen : public Potential, public CostsPerAtom {
 public:
  struct Params {
    std::optional<std::string> element;  ///< element of the published table
    std::optional<double> epsilon;       ///< eV; this and the following override the published values
    std::optional<double> a;             ///< Å
    std::optional<double> c;
    std::optional<int> n;
    std::optional<int> m;
    std::optional<double> cutoff;        ///< Å, twice `a` if absent
    std::optional<double> switch_width;  ///< Å; if absent a fifth of the cut-off, and with `tail` half of it
    bool tail = false;
    static void describe(deck::Describe<Params>& d) {
      d("element", &Params::element, "element with published parameters: Ni, Cu, Rh, Pd, Ag, Ir, Pt, Au, Pb or Al")
          .example("Cu");
      d("epsilon", &Params::epsilon, "energy scale").unit("eV").positive();
      d("a", &Params::a, "length scale: the lattice constant").unit("angstrom").positive();
      d("c", &Params::c, "strength of cohesion").positive();
      d("n", &Params::n, "exponent of the repulsion").range(5, 24);
      d("m", &Params::m, "exponent of the density").range(4, 23);
      d("cutoff", &Params::cutoff, "cut-off radius; twice `a` when absent").unit("angstrom").positive();
      d("switch_width", &Params::switch_width,
        "distance over which the interaction is switched off before the cut-off; when absent a fifth of it, and with "
        "`tail` half of it")
          .unit("angstrom")
          .positive();
      d("tail", &Params::tail,
        "tail correction beyond the cut-off, for the mean density of a cell that is periodic in all directions")
          .def(false);
    }
  };
  /// The parameters in use.
  struct Numbers {
    double epsilon = 0.0, a = 0.0, c = 0.0;
    int n = 0, m = 0;
    double cutoff = 0.0;
    SwitchFunction smooth;
    /// With `tail`, for unit number density: sums over (a/r)^n and (a/r)^m removed by the truncation (Å^3).
    double tail_n = 0.0, tail_m = 0.0;
  };

  /// Throws InputError for an element without published values and for missing or invalid parameters.
  SuttonChen(const Params& params, Context& context);

  void bind(std::span<const Species> species) override;
  double cutoff() const override { return numbers_.cutoff; }
  bool needs_periodic_cell() const override { return params_.tail; }  ///< for its density
  void compute(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&,
               Context&) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;
  /// Two passes over the neighbours with two powers each; the embedding slope of a ghost is sent by its owner.
  AtomCost atom_cost(double neighbours) const override { return {80.0 * neighbours, 1.0}; }

  const Numbers& numbers() const { return numbers_; }
  /// Energy per atom of the perfect fcc crystal with lattice constant `a` (eV), by its lattice sums: with this cut-off,
  /// or without one.
  double crystal_energy(double lattice_constant, bool with_cutoff) const;

 private:
  Params params_;
  Numbers numbers_;
  View<double*> slope_;  ///< dE/drho of every atom
};

}  // namespace cambium::md
