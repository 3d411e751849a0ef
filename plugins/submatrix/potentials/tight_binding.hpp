#pragma once
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/potential.hpp"
#include "plugins/submatrix/density/density_matrix.hpp"
#include "plugins/submatrix/matrices/hopping.hpp"
#include "plugins/submatrix/matrices/regions.hpp"

namespace cambium::submatrix {

/// Orthogonal sp3 tight binding of one element, its density matrix by the submatrix method with one block per atom:
///   E = 2 Tr(D (H - mu)) + mu N [- T S] + sum_i F(sum_j phi(r_ij)),   F_k = -4 sum_i D_ik : dH_ik/dr_k - repulsion.
/// The submatrix of an atom i holds the atoms j whose bond order with it, 4 |D_ij|^2 (K. B. Wiberg, Tetrahedron 24,
/// 1083 (1968)), is at least `eps`, or those within `reach`; with a skin, so that the choice changes only now and then.
/// Bonds that a submatrix cuts are saturated (edges.hpp). Forces are then not exactly the slope of the energy; their
/// error falls with eps. At zero temperature mu stays in the middle of the gap from one choice of submatrices to the
/// next.
class TightBinding : public Potential, public Checked {
 public:
  struct Params {
    std::optional<std::string> parameters;  ///< published set; default: the element's first
    double eps = 0.0;                       ///< least bond order; 0: by reach
    double reach = 0.0;                     ///< Å; 0 as well as eps: one problem of all atoms
    double skin = 0.5;                      ///< Å
    double krylov_tolerance = 1e-6;
    SolverKind solver = SolverKind::lanczos;
    double temperature = 0.0;
    static void describe(deck::Describe<Params>& d) {
      d("parameters", &Params::parameters,
        "published set: xu (C), bowler or goodwin (Si); default: xu for C, bowler for Si")
          .options({"xu", "bowler", "goodwin"});
      d("eps", &Params::eps,
        "bond-order threshold: atoms whose bond order 4 |D_ij|^2 with an atom is at least this form its submatrix, cut "
        "bonds are saturated; 0: by localisation_radius")
          .non_negative()
          .less_than(1.0)
          .def(0.0);
      d("localisation_radius", &Params::reach,
        "atoms within this distance of an atom form its submatrix; 0, and no eps: one diagonalisation of all atoms "
        "(exact; "
        "up to 4096 atoms)")
          .formerly("reach")
          .unit("angstrom")
          .non_negative()
          .def(0.0);
      d("skin", &Params::skin,
        "skin: extra distance, so that submatrices are rebuilt only when an atom has moved by half of it")
          .unit("angstrom")
          .non_negative()
          .def(0.5);
      d("krylov_tolerance", &Params::krylov_tolerance,
        "convergence tolerance: fraction of D that the newest Krylov block may carry")
          .positive()
          .def(1e-6);
      d("solver", &Params::solver, "solver of the block column of each submatrix")
          .options({{"lanczos", SolverKind::lanczos}, {"diagonalise", SolverKind::diagonalise}})
          .def(SolverKind::lanczos);
      d("temperature", &Params::temperature, "electronic temperature; required for metals and liquids")
          .unit("K")
          .non_negative()
          .def(0.0);
      d.check([](const Params& p) {
        return p.eps > 0.0 && p.reach > 0.0
                   ? "eps and localisation_radius are two ways to choose submatrices; leave one of them out"
                   : "";
      });
    }
  };

  TightBinding(const Params& params, Context& context) : params_(params) { (void)context; }

  void bind(std::span<const Species> species) override;
  void examine(Check& check) override;  ///< reports the cost per atom: much more than a classical potential's
  double cutoff() const override { return model_->cutoff; }
  void compute(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&,
               Context&) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;

  const DensityResult* last() const { return last_ ? &*last_ : nullptr; }
  /// For own atoms: block indices of the atoms of their submatrices; and how often these were chosen.
  const Regions::Lists& regions() const { return region_; }
  int choices() const { return choices_; }

 private:
  static constexpr int electrons_per_atom = 4;
  /// One neighbour of an own atom, within the cut-off.
  struct Bond {
    int row;                  ///< block number of the neighbour
    int particle;             ///< its row among the particles
    std::array<double, 3> d;  ///< from the neighbour to the own atom
    double r;
  };
  bool truncated() const { return params_.eps > 0.0 || params_.reach > 0.0; }
  void number_atoms(const Particles& particles);
  void find_bonds(const Particles& particles, const NeighborList& list);
  void choose_regions(Context& context);
  Regions::Lists by_bond_order(Context& context);
  DensityOptions density_options(double tolerance) const;
  void solve(Context& context);
  MatrixSystem hamiltonian() const;
  void band_forces(double* force, double* virial) const;
  double repulsion(const Particles& particles, GhostExchange& ghosts, double* force, double* virial) const;

  Params params_;
  std::optional<TightBindingModel> model_;
  std::optional<AllAtoms> atoms_;
  std::vector<int> block_;                ///< of each particle row, ghosts included
  std::vector<std::vector<Bond>> bonds_;  ///< of own atoms, by block number
  Regions chosen_;
  Regions::Lists region_;  ///< of own atoms: block indices, ascending
  BondGraph graph_;
  int choices_ = 0;
  std::optional<double> mu_;     ///< zero temperature, submatrices: since the last choice
  std::optional<double> guess_;  ///< of mu: the middle of the last gap
  double gap_ = 0.0;             ///< when mu was chosen
  int krylov_blocks_ = 0;        ///< at which the last evaluation converged, on average
  bool near_band_ = false;       ///< mu, since then
  std::optional<DensityResult> last_;
};

}  // namespace cambium::submatrix
