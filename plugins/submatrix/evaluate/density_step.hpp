#pragma once
// The parts of density_matrix(), in the order in which they run.
#include <map>
#include <memory>

#include "plugins/submatrix/evaluate/chemical_potential.hpp"
#include "plugins/submatrix/evaluate/density_matrix.hpp"

namespace cambium::submatrix {

class DensityStep {
 public:
  DensityStep(const MatrixSystem& system, const DensityOptions& options, Context& context);
  DensityResult run();

 private:
  void orthogonalise();
  void prepare_local();
  void choose_columns();
  std::vector<int> needed_columns() const;
  void predict_mu();
  double sampled_mu(const std::vector<int>& mine) const;
  void ask_predictor();
  void judge_columns();
  void solve_columns();
  double mid_gap(const ElectronCount& count) const;
  bool truncation_explains(double missing, double mu) const;
  ElectronCount::Gap gap_of_electrons(const ElectronCount& count) const;
  double canonical_mu(const ElectronCount& count);
  void find_mu();
  int repeat_changed_columns();
  void return_columns();
  void sum_up();
  void transform_back();
  void estimate_errors();

  std::unique_ptr<ColumnSolver> solver(const KrylovOptions& krylov) const;
  KrylovOptions krylov() const;
  /// The solver for this submatrix, kept as long as it will do. A Krylov space that would fill half of a group's submatrix costs more
  /// than diagonalising it, which then is done.
  ColumnSolver& group_solver(const PrincipalIndex& index);
  PrincipalIndex group_index(std::size_t group, double eps) const;
  bool sampled(std::size_t group) const;
  void store_columns(std::size_t group, const PrincipalIndex& index, ColumnSolver& solver, double mu);
  std::vector<int> output_rows(int column) const;
  void estimate_idempotency();
  void progress(std::size_t done, double started) const;

  const MatrixSystem& system_;
  const DensityOptions& options_;
  Context& context_;
  DensityResult result_;
  /// S^-1/2; orthogonalised H. In the local form: of H and S whichever block is larger, its norms are the pattern.
  std::optional<BlockColumns> root_, hamiltonian_;
  std::optional<ColumnSet> columns_;                ///< of the orthogonalised H (local form: of H), with those of others
  std::optional<ColumnSet> overlap_columns_;        ///< local form
  std::vector<std::vector<int>> groups_;            ///< block columns of the submatrices that this rank solves
  std::optional<ColumnSet> group_columns_;          ///< all blocks of these columns: their norms are the patterns
  std::vector<Spectrum> spectra_;                   ///< of own submatrices
  std::unique_ptr<ColumnSolver> group_solver_, dense_solver_;
  int solver_width_ = 0;
  std::vector<std::vector<double>> values_, weighted_;  ///< own block columns of D and W in the orthogonal basis
  /// Columns of other ranks that were solved here: dimension, D, W.
  std::map<int, std::vector<double>> solved_for_others_;
  std::vector<int> sample_;                         ///< sampled columns of all ranks
  int first_blocks_ = 0;                            ///< Krylov blocks that the sampled columns needed
  double predicted_mu_ = 0.0, dropped_ = 0.0;  ///< hartree; dropped_: ColumnStatistics::dropped of this rank
  LevelPrediction prediction_;                      ///< with a predictor
};

}  // namespace cambium::submatrix
