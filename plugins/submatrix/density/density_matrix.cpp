#include "plugins/submatrix/density/density_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "core/base/error.hpp"
#include "plugins/submatrix/blocks/congruence.hpp"
#include "plugins/submatrix/blocks/symmetrise.hpp"
#include "plugins/submatrix/columns/edges.hpp"
#include "plugins/submatrix/density/density_step.hpp"
#include "plugins/submatrix/density/electron_check.hpp"
#include "plugins/submatrix/density/inverse_root.hpp"

namespace cambium::submatrix {

namespace {

/// Blocks that are in either matrix with a norm >= threshold, with the values of the larger one; diagonal blocks
/// always.
BlockColumns larger_blocks(const BlockColumns& a, const BlockColumns& b, double threshold) {
  BlockColumns out(a.shared_layout());
  for (int column : a.columns()) {
    out.start_column(column);
    const BlockColumn x = a.column(column), y = b.column(column);
    for (std::size_t i = 0, j = 0; i < x.rows.size() || j < y.rows.size();) {
      const bool in_x = i < x.rows.size() && (j == y.rows.size() || x.rows[i] <= y.rows[j]),
                 in_y = j < y.rows.size() && (i == x.rows.size() || y.rows[j] <= x.rows[i]);
      const bool first = in_x && (!in_y || x.norms[i] >= y.norms[j]);
      const int row = in_x ? x.rows[i] : y.rows[j];
      if ((first ? x.norms[i] : y.norms[j]) >= threshold || row == column)
        out.add_block(row, first ? x.block(i) : y.block(j));
      i += in_x, j += in_y;
    }
  }
  out.finish();
  return out;
}

/// Of the blocks off the diagonal of a smaller norm than eps: the root of the sum of squares in the own column where it
/// is largest.
double dropped_norm(const BlockColumns& matrix, double eps) {
  double largest = 0.0;
  for (int column : matrix.columns()) {
    const BlockColumn c = matrix.column(column);
    double sum = 0.0;
    for (std::size_t e = 0; e < c.rows.size(); ++e)
      if (c.norms[e] < eps && c.rows[e] != column) sum += c.norms[e] * c.norms[e];
    largest = std::max(largest, sum);
  }
  return std::sqrt(largest);
}

/// a + factor b, blocks of norm >= threshold.
BlockColumns sum_of(const BlockColumns& a, const BlockColumns& b, double factor, double threshold) {
  BlockColumns out(a.shared_layout());
  for (int column : a.columns()) {
    out.start_column(column);
    std::vector<int> rows;
    std::ranges::set_union(a.column(column).rows, b.column(column).rows, std::back_inserter(rows));
    for (int row : rows) {
      double* to = out.add_block(row);
      const double *x = a.block(row, column), *y = b.block(row, column);
      for (int k = 0; k < a.layout().size(row) * a.layout().size(column); ++k)
        to[k] = (x ? x[k] : 0.0) + (y ? factor * y[k] : 0.0);
    }
  }
  out.finish();
  return filtered(out, threshold);
}

/// What canonical orthogonalisation left out are states of energy 0 in S^-1/2 H S^-1/2: they are put above all others,
/// where they stay empty.
BlockColumns moved_up(const BlockColumns& hamiltonian, const BlockColumns& left_out, double threshold,
                      const Comm& comm) {
  double largest = 0.0;  // Gershgorin's bound, with the norms of blocks
  for (int column : hamiltonian.columns()) {
    const BlockColumn c = hamiltonian.column(column);
    largest = std::max(largest, std::accumulate(c.norms, c.norms + c.rows.size(), 0.0));
  }
  return sum_of(hamiltonian, left_out, comm.max(largest) + 1.0, threshold);
}

}  // namespace

DensityResult density_matrix(const MatrixSystem& system, const DensityOptions& options, Context& context) {
  return DensityStep(system, options, context).run();
}

DensityStep::DensityStep(const MatrixSystem& system, const DensityOptions& options, Context& context)
    : system_(system), options_(options), context_(context), result_(system.layout) {
  // With two channels every other sampled column is one of spin down.
  const int sites = system.layout->blocks() / system.channels, count = std::min(sites, std::max(options.sample, 4));
  for (int k = 0; k < count; ++k)
    sample_.push_back(system.channels * static_cast<int>((2 * static_cast<std::int64_t>(k) + 1) * sites / (2 * count)) +
                      k % system.channels);
}

DensityResult DensityStep::run() {
  if (options_.form == Form::local && (options_.solver != SolverKind::diagonalise || options_.orthogonal))
    throw InternalError("the local form is for an overlap and the solver diagonalise");
  check_solver(options_);
  check_electrons(options_.electrons, system_.layout->dimension(), options_);
  if (options_.form == Form::local)
    prepare_local();
  else
    orthogonalise();
  predict_mu();
  solve_at_mu();
  for (int round = 0; ends_ && !trimmed_ && widen_patterns(round); ++round) solve_at_mu();
  result_.columns.widened = widened_, result_.columns.at_limit = at_limit_;
  if (options_.form == Form::local && options_.overlap_threshold <= 0.0)
    result_.smallest_overlap =
        judge_overlap(smallest_overlap_.first, smallest_overlap_.second, options_.eps, context_.comm, context_.log);
  if (options_.predictor) judge_columns();
  return_columns();
  sum_up();
  transform_back();
  if (options_.sample > 0) estimate_errors();
  return std::move(result_);
}

void DensityStep::solve_at_mu() {
  solve_columns();
  find_mu();
  // Columns were made for a mu in another gap: those that change may move the count by what their Krylov spaces had
  // left out.
  for (int pass = 0; repeat_changed_columns() > 0 && !options_.mu && options_.kt <= 0.0 && pass < 3; ++pass) find_mu();
}

std::unique_ptr<ColumnSolver> DensityStep::solver(const KrylovOptions& krylov) const {
  const int blocks = system_.layout->blocks();
  if (options_.make_solver) return options_.make_solver(krylov);
  if (system_.bonds)
    return options_.solver == SolverKind::diagonalise ? make_saturated_diagonaliser(*system_.bonds)
                                                      : make_saturated_lanczos(*system_.bonds, krylov);
  if (options_.form == Form::local)
    return make_local_diagonaliser(blocks, *overlap_columns_, options_.overlap_threshold);
  if (options_.solver == SolverKind::diagonalise) return make_diagonaliser(blocks);
  if (options_.solver != SolverKind::lanczos)
    return make_sign_iteration(blocks, options_.solver == SolverKind::pade, options_.precision, predicted_mu_);
  if (options_.precision == Precision::float32) return make_lanczos<float>(blocks, krylov);
  return make_lanczos<double>(blocks, krylov);
}

KrylovOptions DensityStep::krylov() const {
  KrylovOptions out;
  // The error of the energy is about the square of the residual, that of D the residual itself.
  out.tolerance =
      options_.krylov_tolerance > 0.0 ? options_.krylov_tolerance : std::clamp(10.0 * options_.eps, 2e-6, 1e-2);
  if (first_blocks_ > 0) out.first = first_blocks_;
  if (system_.bonds) out.step = 4, out.most = 300;  // products are cheap, looking is not
  return out;
}

static RootResult root_by(ColumnSolver& solver, const MatrixSystem& system, const DensityOptions& options,
                          const Comm& comm) {
  std::int64_t bytes = 0;
  double flops = 0.0;
  RootResult out = inverse_root(system.overlap, system.ranges, options.eps_overlap, options.overlap_threshold, solver,
                                comm, bytes, flops);
  out.bytes = bytes, out.flops = flops;
  return out;
}

RootResult overlap_root(const MatrixSystem& system, const DensityOptions& options, Context& context) {
  const auto timer = context.timing.scope("overlap");
  const int blocks = system.layout->blocks();
  if (options.overlap_threshold > 0.0) return root_by(*make_diagonaliser(blocks), system, options, context.comm);
  KrylovOptions krylov;
  krylov.tolerance = std::clamp(options.eps_overlap, 1e-10, 1e-2);
  // About what is needed for a condition number of ten; looking costs a diagonalisation.
  krylov.first = std::max(4, static_cast<int>(-2.5 * std::log10(options.eps_overlap))), krylov.step = 1;
  // Single precision would limit the root to 1e-7, far below the truncation.
  const bool narrow = options.precision == Precision::float32 && options.eps_overlap > 1e-6;
  RootResult out = root_by(*(narrow ? make_lanczos<float>(blocks, krylov) : make_lanczos<double>(blocks, krylov)),
                           system, options, context.comm);
  judge_overlap(out.smallest, out.smallest_column, options.eps_overlap, context.comm, context.log);
  return out;
}

void DensityStep::orthogonalise() {
  // With an error estimate, blocks down to eps / 10 stay for the columns on which a smaller eps is tried.
  const double keep = options_.sample > 0 ? 0.1 * options_.eps : options_.eps;
  if (options_.orthogonal) {
    hamiltonian_ = filtered(system_.hamiltonian, keep);
    dropped_ = dropped_norm(system_.hamiltonian, options_.eps);
  } else {
    const auto root =
        options_.root ? options_.root : std::make_shared<const RootResult>(overlap_root(system_, options_, context_));
    result_.root_dimension = root->mean_dimension, result_.root_steps = root->mean_steps,
    result_.smallest_overlap = root->smallest;
    if (!options_.root) result_.bytes += root->bytes, result_.flops += root->flops;
    root_ = root->root;
    result_.left_out = root->functions_left_out;
    const auto timer = context_.timing.scope("transform");
    const double prune = options_.prune * options_.eps;
    hamiltonian_ = congruence(*root_, filtered(system_.hamiltonian, prune), system_.ranges, context_.comm,
                              {prune, keep, {}, &dropped_}, result_.bytes, result_.flops);
    if (root->left_out) hamiltonian_ = moved_up(*hamiltonian_, *root->left_out, keep, context_.comm);
    dropped_ = std::hypot(std::sqrt(dropped_), dropped_norm(*hamiltonian_, options_.eps));
  }
  const auto timer = context_.timing.scope("columns");
  prepare_columns();
}

/// The submatrices that this rank solves, and the blocks that they need.
void DensityStep::prepare_columns() {
  if (!left_out_) ends_ = note_ends();
  choose_columns();
  draw_sample();
  const std::vector<int> needed = needed_columns();
  Problem needs = problem(needed);
  columns_ = std::move(needs.hamiltonian), overlap_columns_ = std::move(needs.overlap);
}

/// No S^-1/2: the pattern is that of H and S together, and each submatrix of both is a problem of its own.
void DensityStep::prepare_local() {
  const auto timer = context_.timing.scope("columns");
  hamiltonian_ =
      larger_blocks(system_.hamiltonian, system_.overlap, options_.sample > 0 ? 0.1 * options_.eps : options_.eps);
  prepare_columns();
}

/// Middle of the widest gap whose even number of electrons below it is within a quarter of `electrons`.
static double middle_of_widest_gap(const ElectronCount& count, double electrons) {
  ElectronCount::Gap best{0.0, -1.0};
  const int nearest = static_cast<int>(std::round(0.5 * electrons)), reach = std::max(1, nearest / 4);
  for (int pairs = std::max(1, nearest - reach); pairs <= nearest + reach; ++pairs) {
    const auto gap = count.gap_around_count(2.0 * pairs, 0.5);
    if (gap.width() > best.width()) best = gap;
  }
  return best.middle();
}

/// The sample's share of the electrons is about its share of the functions. A wrong guess costs time only.
double DensityStep::sampled_mu(const std::vector<int>& mine) const {
  KrylovOptions options;
  options.first = options_.mid_gap ? 40 : 12;  // 12 blocks see a gap of some eV
  const auto guess = solver(options);
  std::vector<Spectrum> spectra;
  double functions = 0.0;
  for (int column : mine) {
    spectra.push_back(
        guess->decompose(own_index(column, options_.eps), *columns_, options_.eps, [](double) { return 0.0; }));
    functions += system_.layout->size(column);
  }
  const double electrons =
      options_.electrons * context_.comm.sum(functions) / static_cast<double>(system_.layout->dimension());
  const ElectronCount count(spectra, 0.0, context_.comm);
  const double mu = options_.mid_gap ? count.widest_gap(electrons, 0.1 * electrons, 5e-3 * electrons).middle()
                                     : middle_of_widest_gap(count, electrons);
  // Sums depend on the number of ranks in their last digits; what follows must not.
  return std::round(mu * 1e6) * 1e-6;
}

void DensityStep::predict_mu() {
  const auto timer = context_.timing.scope("columns");
  std::vector<int> mine;
  for (int column : sample_)
    if (system_.ranges.owner(column) == context_.comm.rank()) mine.push_back(column);
  if (options_.mu) {
    predicted_mu_ = *options_.mu;
  } else if (options_.predictor) {
    ask_predictor();
  } else if (options_.mu_guess) {
    predicted_mu_ = *options_.mu_guess;
  } else {
    predicted_mu_ = sampled_mu(mine);
  }
  if (options_.solver != SolverKind::lanczos) return;
  const auto trial = solver(krylov());
  int converged = 0, fallen = 0;
  for (int column : mine) {
    trial->decompose(own_index(column, options_.eps), *columns_, options_.eps,
                     [this](double x) { return occupation(x, predicted_mu_, options_.kt); });
    int& most = trial->report().fell_back ? fallen : converged;
    most = std::max(most, trial->report().steps);
  }
  // Where no sampled column converges, looking before the last block is lost time.
  first_blocks_ = context_.comm.max(converged);
  if (first_blocks_ == 0) first_blocks_ = context_.comm.max(fallen);
}

void DensityStep::sum_up() {
  const double mu = result_.mu, kt = options_.kt;
  double sums[2][3] = {};
  for (std::size_t g = 0; g < spectra_.size(); ++g) {
    const Spectrum& spectrum = spectra_[g];
    double* own = sums[groups_[g].front() % system_.channels];
    own[0] += spectrum.trace([mu, kt](double x) { return occupation(x, mu, kt); });
    own[1] += spectrum.trace([mu, kt](double x) { return x * occupation(x, mu, kt); });
    if (kt <= 0.0) continue;
    own[2] += spectrum.trace([mu, kt](double x) {
      const double f = occupation(x, mu, kt), g = 1.0 - f;
      return kt * ((f > 0.0 ? f * std::log(f) : 0.0) + (g > 0.0 ? g * std::log(g) : 0.0));
    });
  }
  for (std::size_t s = 0; s < 2; ++s) {
    context_.comm.sum(sums[s]);
    result_.electrons = (result_.channel_electrons[s] = 2.0 * sums[s][0]) + (s == 0 ? 0.0 : result_.electrons);
    result_.energy = (result_.channel_energy[s] = 2.0 * sums[s][1]) + (s == 0 ? 0.0 : result_.energy);
    result_.entropy_term = (result_.channel_entropy[s] = 2.0 * sums[s][2]) + (s == 0 ? 0.0 : result_.entropy_term);
  }
}

}  // namespace cambium::submatrix
