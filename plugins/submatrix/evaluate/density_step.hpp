#pragma once
// The parts of density_matrix(), in the order in which they run.
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
  std::vector<int> needed_columns() const;
  void predict_mu();
  void solve_columns();
  void find_mu();
  void repeat_changed_columns();
  void sum_up();
  void transform_back();
  void estimate_errors();

  std::unique_ptr<ColumnSolver> solver(const KrylovOptions& krylov) const;
  KrylovOptions krylov() const;
  void store_column(const PrincipalIndex& index, ColumnSolver& solver, double mu);
  std::vector<int> output_rows(int column) const;
  double plateau() const;
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
  std::vector<Spectrum> spectra_;                   ///< of own columns
  std::vector<std::vector<double>> values_, weighted_;  ///< block columns of D and W in the orthogonal basis
  std::vector<int> sample_;                         ///< sampled columns of all ranks
  int first_blocks_ = 0;                            ///< Krylov blocks that the sampled columns needed
  double predicted_mu_ = 0.0;
};

}  // namespace cambium::submatrix
