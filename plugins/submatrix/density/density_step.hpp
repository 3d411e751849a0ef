#pragma once
// The parts of density_matrix(), in the order in which they run.
#include <map>
#include <memory>
#include <utility>

#include "plugins/submatrix/blocks/error_sample.hpp"
#include "plugins/submatrix/columns/chemical_potential.hpp"
#include "plugins/submatrix/columns/exact_solvers.hpp"
#include "plugins/submatrix/density/density_matrix.hpp"

namespace cambium::submatrix {

/// A submatrix whose rows are being looked for.
struct Growing {
  int column = 0;
  std::vector<int> rows;  ///< ascending
  std::map<int, double> pattern,
      reach;  ///< of rows: norms of the Hamiltonian; the largest eps at which a row belongs to the submatrix
  std::vector<std::pair<int, double>> front;  ///< rows from which it grows, with the norm of D there
  bool grew = false, done = false;
  bool at_limit = false;  ///< has as many functions as a submatrix may have, and D reaches further
};

/// When a row to which D reaches belongs to a submatrix: where |D_r|^2 times its strongest coupling is share * eps or
/// more.
struct ReachOptions {
  double eps;
  double share;
};
/// A tenth of what eps leaves out of matrices that fall off slowly.
inline constexpr double share_of_estimate = 0.001;

/// Mean level above mu less mean level below, hartree: the energy of an excitation. Where all levels are on one side,
/// their root mean square.
double excitation(const Spectrum& spectrum, double mu);

class DensityStep {
 public:
  DensityStep(const MatrixSystem& system, const DensityOptions& options, Context& context);
  DensityResult run();

 private:
  void orthogonalise();
  void prepare_local();
  void prepare_columns();
  void choose_columns();
  void draw_sample();
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
  void solve_at_mu();
  int repeat_changed_columns();
  void return_columns();
  void sum_up();
  void transform_back();
  void estimate_errors();

  /// Submatrices on which errors are estimated get the rows to which D reaches, see reach.cpp.
  void note_couplings();
  std::vector<double> couplings_outside();
  ColumnSet couplings(const std::vector<int>& columns);
  double across_edge(const PrincipalIndex& index, const std::vector<double>& norms, const ColumnSet& coupling,
                     const ReachOptions& reach);
  double edge_bound(const PrincipalIndex& index, const std::vector<double>& norms, const ColumnSet& coupling,
                    double excitation);
  /// Block columns of matrices that end before D does get more rows, see widened_patterns.cpp.
  bool note_ends();
  void note_density(std::size_t group, const PrincipalIndex& index, double mu, const std::vector<double>& density,
                    const std::vector<double>& weighted);
  std::vector<Growing> columns_that_end();
  bool widen_patterns(int round);
  std::vector<int> own_rows(int column) const;
  bool merge_patterns(const std::vector<Growing>& growing, bool last);
  std::vector<double> exchanged_rows(const std::vector<Growing>& growing, double least);
  const BlockColumns& pattern() const { return pattern_ ? *pattern_ : *hamiltonian_; }
  PrincipalIndex own_index(int column, double eps) const;

  Problem problem(const std::vector<int>& columns);
  ExactSolvers exact_solvers(const std::optional<ColumnSet>& overlap, double tolerance) const;
  std::vector<double> reaching(const PrincipalIndex& index, const Spectrum& spectrum, double mu,
                               const std::vector<double>& density, const std::vector<double>& weighted, int first,
                               int width) const;
  std::vector<double> weighted_column(ColumnSolver& work) const;
  Growing started(int column, const BlockColumn& norms, double eps) const;
  void judge_rows(Growing& g, const PrincipalIndex& index, const std::vector<double>& norms, const ColumnSet& coupling,
                  const ReachOptions& reach) const;
  void hop(Growing& g, const ColumnSet& coupling, const ReachOptions& reach) const;
  void let_grow(std::vector<Growing>& growing, const ReachOptions& reach);

  /// One drawn submatrix with everything tightened, and what it tells.
  struct Judged;
  void widen_reference(std::vector<Judged>& judged);
  void solve_reference(std::vector<Judged>& judged, const ColumnSet& hamiltonian,
                       const std::optional<ColumnSet>& overlap, bool grown);
  std::vector<int> rows_of_reference(const std::vector<Judged>& judged) const;
  void compare(Judged& judged, const ExactSolvers& solvers);
  void state_errors(std::span<const double> values, std::size_t n);

  std::unique_ptr<ColumnSolver> solver(const KrylovOptions& krylov) const;
  KrylovOptions krylov() const;
  /// The solver for this submatrix, kept as long as it will do. A Krylov space that would fill half of a group's
  /// submatrix costs more than diagonalising it, which then is done.
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
  std::shared_ptr<const BlockLayout> block_layout_;  ///< one row for each block
  std::optional<BlockColumns> coupling_;             ///< norms of the blocks of hamiltonian_; blocks of block_layout_
  /// Blocks of block_layout_, where any submatrix was widened: the largest eps at which a row belongs to the submatrix
  /// of a column. Without it the norms of hamiltonian_ are that.
  std::optional<BlockColumns> pattern_;
  bool ends_ = false;               ///< some column of the input may end before D does
  int widened_ = 0, at_limit_ = 0;  ///< block columns of all ranks that were widened, and those that would need more
  bool trimmed_ = false;            ///< patterns were widened, and are as they stay
  std::optional<BlockColumns>
      left_out_;  ///< blocks of block_layout_, diagonal: what eps leaves out of the input, squared
  std::vector<std::vector<std::vector<double>>>
      density_norms_;                 ///< with ends_, of own submatrices: of each column of D the norms of its blocks
  double largest_coupling_ = 0.0;     ///< of two different blocks, on all ranks
  std::vector<char> inside_;          ///< blocks of the submatrix that is looked at
  std::optional<ColumnSet> columns_;  ///< of the orthogonalised H (local form: of H), with those of others
  std::optional<ColumnSet> overlap_columns_;  ///< local form
  std::vector<std::vector<int>> groups_;      ///< block columns of the submatrices that this rank solves
  std::optional<ColumnSet> group_columns_;    ///< all blocks of these columns: their norms are the patterns
  std::vector<Spectrum> spectra_;             ///< of own submatrices
  std::unique_ptr<ColumnSolver> group_solver_, dense_solver_;
  int solver_width_ = 0;
  std::vector<std::vector<double>> values_, weighted_;  ///< own block columns of D and W in the orthogonal basis
  /// Columns of other ranks that were solved here: dimension, D, W.
  std::map<int, std::vector<double>> solved_for_others_;
  std::vector<int> sample_;  ///< columns of all ranks on which mu and the Krylov space are tried
  std::pair<double, int> smallest_overlap_{
      1e300, 0};            ///< local form: the smallest eigenvalue of a submatrix of S, and near which block
  StratifiedSample drawn_;  ///< submatrices on which errors are estimated, by their first column
  double estimate_flops_ = 0.0;
  int first_blocks_ = 0;                       ///< Krylov blocks that the sampled columns needed
  double predicted_mu_ = 0.0, dropped_ = 0.0;  ///< hartree; dropped_: ColumnStatistics::dropped of this rank
  LevelPrediction prediction_;                 ///< with a predictor
};

}  // namespace cambium::submatrix
