#include "plugins/submatrix/density/density_matrix.hpp"

#include "core/base/error.hpp"
#include "plugins/submatrix/density/density_output.hpp"
#include "plugins/submatrix/density/electron_check.hpp"
#include "plugins/submatrix/density/error_estimate.hpp"
#include "plugins/submatrix/density/mu_search.hpp"
#include "plugins/submatrix/density/orthogonalised.hpp"
#include "plugins/submatrix/density/purification.hpp"

namespace cambium::submatrix {

namespace {

void check_form(const DensityOptions& options) {
  if (options.form == Form::local && (options.solver != SolverKind::diagonalise || options.orthogonal))
    throw InternalError("the local form is for an overlap and the solver diagonalise");
  check_solver(options);
}

/// The complete calculation: its parts, and the order in which they run.
class DensityStep {
 public:
  DensityStep(const MatrixSystem& system, const DensityOptions& options, Context& context)
      : result_(system.layout), job_{system, options, context, result_} {}
  DensityResult run();

 private:
  void prepare_matrix();
  void prepare_columns();
  void solve_at_mu();
  void widen();
  void judge_overlap_of_columns();

  DensityResult result_;
  DensityJob job_;
  std::shared_ptr<const RootResult> root_;
  double dropped_ = 0.0;
  SubmatrixPatterns patterns_{job_};
  SolverChoice solvers_{job_, patterns_};
  Couplings couplings_{job_, patterns_};
  Reach reach_{job_, patterns_, solvers_, couplings_};
  Widening widening_{job_, patterns_, reach_, couplings_};
  MuSearch mu_{job_, patterns_, solvers_};
  ColumnSolutions solutions_{job_, patterns_, solvers_, reach_};
  ErrorEstimator estimator_{job_, patterns_, solvers_, couplings_, reach_};
};

DensityResult DensityStep::run() {
  check_form(job_.options);
  check_electrons(job_.options.electrons, job_.system.layout->dimension(), job_.options);
  prepare_matrix();
  // A few columns give an estimate of mu and of the cost of columns; a predictor needs all.
  if (job_.options.predictor)
    prepare_columns();
  else
    patterns_.fetch(mu_.tried(), {});
  mu_.predict();
  if (!job_.options.predictor) prepare_columns();
  solve_at_mu();
  widen();
  if (job_.options.form == Form::local && job_.options.overlap_threshold <= 0.0) judge_overlap_of_columns();
  if (job_.options.predictor) mu_.judge(solutions_.spectra());
  solutions_.return_to_owners();
  const BlockColumns* root = root_ ? &root_->root : nullptr;
  sum_up(job_, patterns_, solutions_);
  transform_back(job_, patterns_, solutions_, root);
  if (job_.options.sample > 0) {
    estimator_.estimate(solutions_, root);
    result_.error.idempotency = idempotency_error(job_, patterns_, solutions_, estimator_.drawn().drawn());
  }
  return std::move(result_);
}

void DensityStep::prepare_matrix() {
  const auto& options = job_.options;
  if (job_.has_root()) {
    root_ = options.root ? options.root
                         : std::make_shared<const RootResult>(overlap_root(job_.system, options, job_.context));
    result_.root_dimension = root_->mean_dimension;
    result_.root_steps = root_->mean_steps;
    result_.smallest_overlap = root_->smallest;
    result_.left_out = root_->functions_left_out;
    if (!options.root) {
      result_.bytes += root_->bytes;
      result_.flops += root_->flops;
    }
  }
  PreparedMatrix prepared = options.form == Form::local ? of_both(job_) : orthogonalised(job_, root_.get());
  patterns_.set_matrix(std::move(prepared.matrix));
  dropped_ = prepared.dropped;
}

/// The submatrices that this rank solves, and the blocks that they need.
void DensityStep::prepare_columns() {
  const auto timer = job_.context.timing.scope("columns");
  widening_.look();
  if (widening_.trimmed())
    patterns_.keep_groups();  // so that what the rows that left had done is known of each submatrix
  else
    patterns_.choose(solvers_.expected());
  estimator_.draw();
  patterns_.fetch(mu_.tried(), estimator_.drawn());
}

void DensityStep::solve_at_mu() {
  solutions_.solve();
  mu_.find(solutions_.spectra());
  // Columns were made for a mu in another gap: those that change may move the count by what their Krylov spaces had
  // left out.
  for (int pass = 0; solutions_.repeat_changed() > 0 && !job_.options.mu && job_.options.kt <= 0.0 && pass < 3; ++pass)
    mu_.find(solutions_.spectra());
}

/// Rounds of widening and solving, until D reaches no further.
void DensityStep::widen() {
  for (int round = 0; !widening_.done() && widening_.widen(round, solutions_.density_norms()); ++round) {
    solvers_.forget();
    if (widening_.trimmed()) solutions_.keep_wider();
    prepare_columns();
    solve_at_mu();
  }
  result_.columns.widened = widening_.widened();
  result_.columns.at_limit = widening_.at_limit();
  result_.columns.dropped = job_.context.comm.max(dropped_);
}

void DensityStep::judge_overlap_of_columns() {
  const auto [smallest, column] = solutions_.smallest_overlap();
  const double seen =
      judge_overlap(smallest, column, "eps_filter", job_.options.eps, job_.context.comm, job_.context.log);
  result_.smallest_overlap =
      judge_whole_overlap(job_.system.overlap, nullptr, seen, job_.system.ranges, job_.options, job_.context);
}

}  // namespace

DensityResult density_matrix(const MatrixSystem& system, const DensityOptions& options, Context& context) {
  if (options.purification) return purified_density(system, options, context);
  return DensityStep(system, options, context).run();
}

}  // namespace cambium::submatrix
