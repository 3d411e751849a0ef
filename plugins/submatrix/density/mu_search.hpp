#pragma once
#include <vector>

#include "plugins/submatrix/columns/chemical_potential.hpp"
#include "plugins/submatrix/submatrices/solver_choice.hpp"

namespace cambium::submatrix {

/// Search for mu: an estimate before submatrices are solved, the final value from their spectra.
class MuSearch {
 public:
  MuSearch(const DensityJob& job, const SubmatrixPatterns& patterns, SolverChoice& solvers);

  /// Columns of all ranks on which mu and the Krylov space are tried.
  const std::vector<int>& tried() const { return tried_; }
  /// Collective: gives the solvers an initial mu, and the Krylov blocks that it requires.
  void predict();
  /// Collective: stores mu, its number of electrons and the gap around it in the result, from the spectra of own
  /// submatrices.
  void find(const std::vector<Spectrum>& spectra);
  /// Collective: reports the columns that deviate from the predictor, by their band energies at zero temperature, on
  /// which models are trained.
  void judge(const std::vector<Spectrum>& spectra);

 private:
  double sampled_mu(const std::vector<int>& mine) const;
  void ask_predictor();
  double mid_gap(const ElectronCount& count) const;
  PrincipalIndex shorter(int column) const;
  double moved_by_truncation(double mu) const;
  ElectronCount::Gap gap_of_electrons(const ElectronCount& count) const;
  double canonical_mu(const ElectronCount& count);

  DensityJob job_;
  const SubmatrixPatterns& patterns_;
  SolverChoice& solvers_;
  std::vector<int> tried_;
  LevelPrediction prediction_;  ///< with a predictor
};

}  // namespace cambium::submatrix
