#pragma once
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/potential.hpp"
#include "plugins/submatrix/evaluate/density_matrix.hpp"
#include "plugins/submatrix/tight_binding/hopping.hpp"

namespace cambium::submatrix {

/// Orthogonal sp3 tight binding of one element, its density matrix by the submatrix method with one block per atom:
///   E = 2 Tr(D H) [- T S] + sum_i F(sum_j phi(r_ij)),   F_k = -4 sum_i D_ik : dH_ik/dr_k - repulsion.
/// The submatrix of an atom holds the atoms within `reach` of it, with a skin, so that the choice changes only now and then.
/// With a finite reach the forces are not exactly the slope of the energy; their error falls exponentially with it.
class TightBinding : public Potential {
 public:
  struct Params {
    std::optional<std::string> parameters;  ///< published set; default: the element's first
    double reach = 0.0;        ///< Å; 0: one problem of all atoms
    double skin = 0.5;         ///< Å
    double krylov_tolerance = 1e-6;
    SolverKind solver = SolverKind::lanczos;
    double temperature = 0.0;
    static void describe(deck::Describe<Params>& d);
  };

  TightBinding(const Params& params, Context& context) : params_(params) { (void)context; }

  void bind(std::span<const Species> species) override;
  double cutoff() const override { return model_->cutoff; }
  void compute(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&, Context&) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;

  const DensityResult* last() const { return last_ ? &*last_ : nullptr; }

 private:
  /// One neighbour of an own atom, within the cut-off.
  struct Bond {
    int row;                 ///< block number of the neighbour
    int particle;            ///< its row among the particles
    std::array<double, 3> d; ///< from the neighbour to the own atom
    double r;
  };
  void number_atoms(const Particles& particles, const Comm& comm);
  void find_bonds(const Particles& particles, const NeighborList& list);
  void choose_regions(const Particles& particles, const Comm& comm);
  MatrixSystem hamiltonian() const;
  void band_forces(double* force, double* virial) const;
  double repulsion(const Particles& particles, GhostExchange& ghosts, double* force, double* virial) const;

  Params params_;
  std::optional<TightBindingModel> model_;
  std::vector<int> block_;                 ///< of each particle row, ghosts included
  ColumnRanges ranges_;
  std::vector<std::vector<Bond>> bonds_;   ///< of own atoms, by block number
  std::vector<std::vector<int>> region_;   ///< of own atoms: block numbers, ascending
  std::vector<std::int64_t> region_tags_;  ///< of all atoms when the regions were chosen, in block order
  std::vector<double> region_x_;           ///< and their positions
  std::vector<std::int64_t> tags_;         ///< of all atoms now, in block order
  std::optional<DensityResult> last_;
};

}  // namespace cambium::submatrix
