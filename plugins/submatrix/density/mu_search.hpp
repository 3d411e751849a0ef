#pragma once
#include <vector>

#include "plugins/submatrix/columns/chemical_potential.hpp"
#include "plugins/submatrix/submatrices/solver_choice.hpp"

namespace cambium::submatrix {

/// Where mu is: guessed before anything is solved, found from what was.
class MuSearch {
 public:
  MuSearch(const DensityJob& job, const SubmatrixPatterns& patterns, SolverChoice& solvers);

  /// Columns of all ranks on which mu and the Krylov space are tried.
  const std::vector<int>& tried() const { return tried_; }
  /// Collective: gives the solvers a mu to begin with, and the Krylov blocks that it takes.
  void predict();
  /// Collective: mu, the electrons there and the gap around it into the result, from the spectra of own submatrices.
  void find(const std::vector<Spectrum>& spectra);
  /// Collective: names the columns that the predictor did not expect, by their band energies at zero temperature, which
  /// is what models are trained on.
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
