#pragma once
#include <map>
#include <utility>
#include <vector>

#include "plugins/submatrix/submatrices/couplings.hpp"
#include "plugins/submatrix/submatrices/solver_choice.hpp"

namespace cambium::submatrix {

/// A submatrix that is still growing.
struct Growing {
  int column = 0;
  std::vector<int> rows;  ///< ascending
  std::map<int, double> pattern,
      reach;  ///< of rows: norms of the Hamiltonian; the largest eps at which a row belongs to the submatrix
  std::vector<std::pair<int, double>> front;  ///< rows from which it grows, with the norm of D there
  bool grew = false, done = false;
  bool at_limit = false;  ///< has as many functions as a submatrix may have, and D reaches further
};

/// Criterion for the rows of a submatrix to which D reaches: |D_r|^2 times the strongest coupling of the row is at
/// least share * eps.
struct ReachOptions {
  double eps;
  double share;
};
/// A tenth of the truncation by eps in matrices that decay slowly.
inline constexpr double share_of_estimate = 0.001;

/// Mean level above mu less mean level below, hartree: the energy of an excitation. Where all levels are on one side,
/// their root mean square. Of the levels of `spectrum` with their weights; `size`, if given, becomes the latter.
double excitation(const Spectrum& spectrum, double mu, double* size = nullptr);

/// Reach of D from a block column, and the rows that belong to its submatrix because of that. Blocks of the
/// orthogonalised Hamiltonian determine the rows of a block column only if they decay as slowly as D does. A
/// nearest-neighbour Hamiltonian ends before D has decayed at all, and no eps changes that.
class Reach {
 public:
  Reach(const DensityJob& job, const SubmatrixPatterns& patterns, const SolverChoice& solvers,
        const Couplings& couplings)
      : job_(job), patterns_(patterns), solvers_(solvers), couplings_(couplings) {}

  /// True if some column of the input may end before D does: then H' D is used in addition to D.
  bool matrices_end() const { return matrices_end_; }
  void set_matrices_end(bool end) { matrices_end_ = end; }

  /// The rows that a column has by the norms of its blocks.
  Growing started(int column, const BlockColumn& norms, double eps) const;
  /// Frobenius norm of each block of rows of the columns first .. first + width - 1 of D, or of (H' - mu) D over an
  /// energy of its own where that is more: between atoms of one kind in a chain of two D vanishes by symmetry, and the
  /// energy does not. Only where matrices end; blocks that fall off have no such zeros. `weighted`: H' D.
  std::vector<double> norms(const PrincipalIndex& index, const Spectrum& spectrum, double mu,
                            const std::vector<double>& density, const std::vector<double>& weighted, int first,
                            int width) const;
  /// H' D of the last decompose() of a solver where norms() wants it.
  std::vector<double> weighted_column(ColumnSolver& work) const;
  /// Largest |D_r| |H_or| for a row r inside and o outside of the submatrix, where it is more than eps and what it does
  /// to the energy counts; 0 elsewhere.
  double across_edge(const PrincipalIndex& index, const std::vector<double>& norms, const ColumnSet& coupling,
                     const ReachOptions& reach);
  /// Truncation error at the edge, hartree: the square of each |D_r| |H_or| over the energy that an excitation takes,
  /// both spins.
  double edge_bound(const PrincipalIndex& index, const std::vector<double>& norms, const ColumnSet& coupling,
                    double excitation);
  /// The rows that belong to a solved submatrix, and those among them from which it may have to grow.
  void judge_rows(Growing& g, const PrincipalIndex& index, const std::vector<double>& norms, const ColumnSet& coupling,
                  const ReachOptions& reach) const;
  /// Extends a growing submatrix by one hop from its front. D beyond is estimated as D inside times the relative
  /// coupling.
  void hop(Growing& g, const ColumnSet& coupling, const ReachOptions& reach) const;
  /// Collective: grows the submatrices of `growing` until D inside indicates that no row is missing at `eps`.
  void let_grow(std::vector<Growing>& growing, const ReachOptions& reach);

 private:
  void mark(const PrincipalIndex& index, bool inside);
  void solve_and_judge(std::vector<Growing>& growing, const std::vector<int>& rows, const ColumnSet& coupling,
                       const ReachOptions& reach);

  DensityJob job_;
  const SubmatrixPatterns& patterns_;
  const SolverChoice& solvers_;
  const Couplings& couplings_;
  bool matrices_end_ = false;
  std::vector<char> inside_;  ///< blocks of the current submatrix
};

}  // namespace cambium::submatrix
