#pragma once
#include <map>
#include <utility>
#include <vector>

#include "plugins/submatrix/submatrices/widening.hpp"

namespace cambium::submatrix {

/// The solved submatrices of this rank: their spectra, and the block columns of D and W (orthogonal basis) of the
/// columns that it owns.
class ColumnSolutions {
 public:
  ColumnSolutions(const DensityJob& job, const SubmatrixPatterns& patterns, SolverChoice& solvers, const Reach& reach)
      : job_(job), patterns_(patterns), solvers_(solvers), reach_(reach) {}

  /// Collective: all submatrices of the patterns, for the mu of the solvers.
  void solve();
  /// Keeps the present spectra as wider(): the next solutions are for the same submatrices, but these have more rows.
  void keep_wider() { wider_ = std::move(spectra_); }
  /// Spectrum of each submatrix with more rows, if patterns were widened and trimmed; otherwise empty.
  const std::vector<Spectrum>& wider() const { return wider_; }
  /// Collective: solves again the columns whose occupation at the final mu differs from the one that they were solved
  /// for. Returns their number, on all ranks.
  int repeat_changed();
  /// Collective: sends block columns that were solved for other ranks to their owners.
  void return_to_owners();

  const std::vector<Spectrum>& spectra() const { return spectra_; }  ///< of the groups of the patterns
  /// For own columns, on the rows of their patterns.
  const std::vector<std::vector<double>>& values() const { return values_; }
  const std::vector<std::vector<double>>& weighted() const { return weighted_; }
  /// Norms of D, if matrices may end before D does.
  const DensityNorms& density_norms() const { return density_norms_; }
  /// Local form: the smallest eigenvalue of a submatrix of S, and near which block.
  std::pair<double, int> smallest_overlap() const { return smallest_overlap_; }

 private:
  void store(std::size_t group, const PrincipalIndex& index, ColumnSolver& solver, double mu);
  void note_norms(std::size_t group, const PrincipalIndex& index, double mu, const std::vector<double>& density,
                  const std::vector<double>& weighted);
  void progress(std::size_t done, double started) const;

  DensityJob job_;
  const SubmatrixPatterns& patterns_;
  SolverChoice& solvers_;
  const Reach& reach_;
  std::vector<Spectrum> spectra_, wider_;
  std::vector<std::vector<double>> values_, weighted_;
  DensityNorms density_norms_;
  std::pair<double, int> smallest_overlap_{1e300, 0};
  /// Columns of other ranks that were solved here: dimension, D, W.
  std::map<int, std::vector<double>> for_others_;
};

}  // namespace cambium::submatrix
