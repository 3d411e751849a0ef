// The parts of density_matrix() that say how wrong the result may be: some submatrices, drawn at random, are solved
// again with everything tightened, and the difference is carried over to all of them.
#include <algorithm>
#include <cmath>

#include "plugins/submatrix/blocks/matrix_error.hpp"
#include "plugins/submatrix/density/density_step.hpp"

namespace cambium::submatrix {

namespace {

/// What a decade of eps leaves of the error is taken from the decade before it, but never to be less or more than this.
constexpr double least_left = 0.2, most_left = 0.9;
/// Of what is known of the differences' own errors: these are sizes, not limits.
constexpr double safety = 2.0;

/// (x - mu) f(x) less T times the entropy of a state at x: the grand potential, which no error of H or of mu moves to
/// first order through the occupations.
double grand_potential(double x, double mu, double kt) {
  if (kt <= 0.0) return (x - mu) * occupation(x, mu, 0.0);
  const double z = (x - mu) / kt;
  return z > 0.0 ? -kt * std::log1p(std::exp(-z)) : (x - mu) - kt * std::log1p(std::exp(z));
}

/// Mean level above mu less mean level below, and the root mean square of all: the energies by which errors of H count.
void scales(const Spectrum& spectrum, double mu, SolvedColumns& out) {
  double below[2] = {0.0, 0.0}, above[2] = {0.0, 0.0}, squares = 0.0;
  for (std::size_t j = 0; j < spectrum.node.size(); ++j) {
    double* side = spectrum.node[j] < mu ? below : above;
    side[0] += spectrum.weight[j], side[1] += spectrum.weight[j] * spectrum.node[j];
    squares += spectrum.weight[j] * spectrum.node[j] * spectrum.node[j];
  }
  out.size = std::sqrt(squares / std::max(below[0] + above[0], 1e-30));
  out.excitation = below[0] > 0.0 && above[0] > 0.0 ? above[1] / above[0] - below[1] / below[0] : out.size;
}

}  // namespace

double excitation(const Spectrum& spectrum, double mu) {
  SolvedColumns out;
  scales(spectrum, mu, out);
  return out.excitation;
}

struct DensityStep::Judged {
  std::size_t group = 0, place = 0;  ///< among groups_ and among all that were drawn
  SolvedColumns solved;
  Spectrum spectrum;
  bool is_short = false, grown = false;  ///< D reaches across the edge; did so, before the submatrix grew
  double with_eps = 0.0;                 ///< grand potential, solved again with the rows of eps / 10
  double change = 0.0;                   ///< of the grand potential by eps / 10, tightened less computed
  double beyond = 0.0;                   ///< further change by rows to which D reaches
  double before = 0.0;                   ///< computed less that of ten times eps
  double electrons = 0.0;
  double edge = 0.0;  ///< bound of what is still missing at the edge
};

/// The submatrices on which errors will be estimated. A guess of a column's share of the error: the squares of the
/// blocks that eps leaves out of it, and of the couplings in two steps to rows outside.
void DensityStep::draw_sample() {
  if (options_.sample <= 0) return;
  note_couplings();
  const std::vector<double> outside = couplings_outside();
  const double reached =
      pattern_ ? share_of_estimate * largest_coupling_ : 0.0;  // the share of a row to which D reaches
  std::vector<double> mine, all;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    double score = outside[g];
    for (int column : groups_[g]) {
      const BlockColumn c = (*group_columns_)(column);
      for (std::size_t e = 0; e < c.rows.size(); ++e)
        score += c.norms[e] < options_.eps ? c.norms[e] * c.norms[e] + reached * c.norms[e] : 0.0;
    }
    mine.insert(mine.end(), {static_cast<double>(groups_[g].front()), score});
  }
  std::vector<int> count, first{0};
  for (auto n : context_.comm.all_gather(std::ssize(mine)))
    count.push_back(static_cast<int>(n)), first.push_back(first.back() + count.back());
  all.resize(static_cast<std::size_t>(first.back()));
  MPI_Allgatherv(mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, all.data(), count.data(), first.data(),
                 MPI_DOUBLE, context_.comm.handle());
  std::vector<StratifiedSample::Unit> units;
  for (std::size_t k = 0; k < all.size(); k += 2) units.push_back({static_cast<int>(all[k]), all[k + 1]});
  drawn_ = StratifiedSample(std::move(units), options_.sample, context_.seed);
}

/// Solves the drawn submatrices as `judged` has their rows; `grown`: only those that have.
void DensityStep::solve_reference(std::vector<Judged>& judged, const ColumnSet& hamiltonian,
                                  const std::optional<ColumnSet>& overlap, bool grown) {
  const double mu = result_.mu, kt = options_.kt;
  const ExactSolvers solvers = exact_solvers(overlap, 0.1 * krylov().tolerance);
  const ColumnSet coupling =
      coupling_ ? couplings(rows_of_reference(judged)) : ColumnSet(*hamiltonian_, BlockColumns(system_.layout));
  for (auto& j : judged) {
    if (grown && !j.grown) continue;
    SolvedColumns& s = j.solved;
    ColumnSolver& work = solvers.of(s.index);
    j.spectrum = work.decompose(s.index, hamiltonian, 0.0, [mu, kt](double x) { return occupation(x, mu, kt); });
    work.column([mu, kt](double x) { return occupation(x, mu, kt); }, s.density);
    const auto norms = reaching(s.index, j.spectrum, mu, s.density, weighted_column(work), 0, s.index.width);
    if (root_) work.column([mu, kt](double x) { return x * occupation(x, mu, kt); }, s.weighted);
    estimate_flops_ += work.report().flops;
    scales(j.spectrum, mu, s);
    if (!grown || pattern_) j.with_eps = j.spectrum.trace([mu, kt](double x) { return grand_potential(x, mu, kt); });
    // Widened patterns say where a submatrix ends; whether a tenth of eps needs more is for let_grow() to say.
    j.is_short = (pattern_ && !grown) ||
                 (coupling_ && across_edge(s.index, norms, coupling, {0.1 * options_.eps, share_of_estimate}) > 0.0);
    j.grown = j.grown || j.is_short;
    if (coupling_) j.edge = edge_bound(s.index, norms, coupling, s.excitation);
  }
}

std::vector<int> DensityStep::rows_of_reference(const std::vector<Judged>& judged) const {
  std::vector<int> out;
  for (const auto& j : judged) out.insert(out.end(), j.solved.index.blocks.begin(), j.solved.index.blocks.end());
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// Collective: where D reaches across the edge of a drawn submatrix it grows and is solved again.
void DensityStep::widen_reference(std::vector<Judged>& judged) {
  const auto any = std::any_of(judged.begin(), judged.end(), [](const Judged& j) { return j.is_short; });
  if (context_.comm.max(any ? 1 : 0) == 0) return;
  std::vector<Growing> growing;
  for (const auto& j : judged)
    if (j.is_short)
      for (int column : j.solved.columns)
        growing.push_back(started(column, (*group_columns_)(column), 0.1 * options_.eps));
  let_grow(growing, {0.1 * options_.eps, share_of_estimate});
  auto g = growing.begin();
  for (auto& j : judged) {
    if (!j.is_short) continue;
    std::vector<int> rows = j.solved.index.blocks;
    for (std::size_t k = 0; k < j.solved.columns.size(); ++k, ++g)
      for (const auto& [row, reach] : g->reach)
        if (reach >= 0.1 * options_.eps) rows.push_back(row);
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    j.solved.index = principal_index(std::move(rows), *system_.layout, j.solved.columns);
  }
  const Problem part = problem(rows_of_reference(judged));
  solve_reference(judged, part.hamiltonian, part.overlap, true);
}

/// What a solved submatrix has changed, and what the decade of eps before that had.
void DensityStep::compare(Judged& j, const ExactSolvers& solvers) {
  const double mu = result_.mu, kt = options_.kt;
  const MatrixFunction grand = [mu, kt](double x) { return grand_potential(x, mu, kt); },
                       f = [mu, kt](double x) { return occupation(x, mu, kt); };
  const Spectrum& own = spectra_[j.group];
  const PrincipalIndex index = group_index(j.group, 10.0 * options_.eps);
  ColumnSolver& work = solvers.of(index);
  const Spectrum& coarse = work.decompose(index, *columns_, 10.0 * options_.eps, f);
  estimate_flops_ += work.report().flops;
  j.change = 2.0 * (j.with_eps - own.trace(grand));
  j.beyond = j.grown ? 2.0 * (j.spectrum.trace(grand) - j.with_eps) : 0.0;
  j.before = 2.0 * (own.trace(grand) - coarse.trace(grand));
  j.electrons = 2.0 * (j.spectrum.trace(f) - own.trace(f));
}

/// Each difference is a share of the sum over all submatrices. The margin is the 95 % interval of the sum, and what one
/// knows of the differences' own errors: another decade of eps would change them again, by as much less as this one did
/// against the one before, and the error of H' counts to first order only.
void DensityStep::estimate_errors() {
  const auto timer = context_.timing.scope("estimate");
  std::vector<Judged> judged;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (!sampled(g)) continue;
    const auto& drawn = drawn_.drawn();
    Judged& j = judged.emplace_back();
    j.group = g, j.place = static_cast<std::size_t>(std::lower_bound(drawn.begin(), drawn.end(), groups_[g].front()) -
                                                    drawn.begin());
    j.solved.columns = groups_[g], j.solved.index = group_index(g, 0.1 * options_.eps);
  }
  solve_reference(judged, *columns_, overlap_columns_, false);
  widen_reference(judged);
  std::vector<SolvedColumns> solved;
  const ExactSolvers solvers = exact_solvers(overlap_columns_, 0.1 * krylov().tolerance);
  for (auto& j : judged) compare(j, solvers), solved.push_back(std::move(j.solved));
  std::vector<MatrixError> of_matrix(judged.size());
  if (root_ && result_.left_out == 0.0)
    of_matrix = matrix_errors(system_, *root_, *hamiltonian_, solved, context_.comm, result_.bytes, estimate_flops_);
  enum { change, size, before, bound, beyond, grown, electrons, kinds };
  const std::size_t n = drawn_.drawn().size();
  std::vector<double> values(kinds * n, 0.0);
  for (std::size_t k = 0; k < judged.size(); ++k) {
    const Judged& j = judged[k];
    const auto at = [&](int kind) -> double& { return values[static_cast<std::size_t>(kind) * n + j.place]; };
    at(change) = j.change + j.beyond + of_matrix[k].change, at(beyond) = std::abs(j.beyond),
    at(grown) = j.grown && !pattern_ ? 1.0 : 0.0, at(size) = std::abs(j.change), at(before) = std::abs(j.before);
    at(bound) = of_matrix[k].bound + j.edge, at(electrons) = j.electrons;
  }
  context_.comm.sum(values);
  state_errors(values, n);
  estimate_idempotency();
}

/// `values`: of each drawn submatrix change, its size by eps, the size of the change before, bound, the size of what
/// lies beyond, whether it has grown, electrons, one kind after the other.
void DensityStep::state_errors(std::span<const double> values, std::size_t n) {
  const auto of = [&](std::size_t kind) { return drawn_.sum(values.subspan(kind * n, n)); };
  const auto change = of(0);
  const double size = of(1).total, before = of(2).total, beyond = of(4).total,
               left = before > 0.0 ? std::clamp(size / before, least_left, most_left) : most_left;
  const double rounding = 1e-14 * (std::abs(result_.energy) + std::abs(result_.mu) * result_.electrons);
  const double atoms = static_cast<double>(std::max<std::int64_t>(system_.atoms, 1));
  auto& error = result_.error;
  error.energy_change = change.total / atoms;
  error.sampling = change.half_width / atoms;
  error.margin =
      (change.half_width + safety * (size * left / (1.0 - left) + least_left * beyond + of(3).total) + rounding) /
      atoms;
  error.electron_change = of(6).total / atoms;
  error.beyond = beyond / atoms, error.by_eps = size / atoms,
  error.grown = static_cast<int>(std::count(values.begin() + static_cast<std::ptrdiff_t>(5 * n),
                                            values.begin() + static_cast<std::ptrdiff_t>(6 * n), 1.0));
  error.submatrices = static_cast<int>(n), error.complete = drawn_.complete(), error.alike = change.alike;
  const double own = context_.comm.sum(estimate_flops_), columns = context_.comm.sum(result_.column_flops);
  error.cost = columns > 0.0 ? own / columns : 0.0;
  result_.flops += estimate_flops_;
  if (options_.electrons > 0.0) error.electron_defect = result_.electrons - options_.electrons;
}

}  // namespace cambium::submatrix
