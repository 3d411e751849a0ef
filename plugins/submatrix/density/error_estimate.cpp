#include "plugins/submatrix/density/error_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/parallel/gather.hpp"
#include "plugins/submatrix/columns/chemical_potential.hpp"
#include "plugins/submatrix/submatrices/ends.hpp"

namespace cambium::submatrix {

namespace {

/// The gain of a decade of eps is estimated from the decade before it, but never as less or more than this.
constexpr double least_left = 0.2, most_left = 0.9;
/// For what is known of the differences' own errors: these are sizes, not limits.
constexpr double safety = 2.0;
/// Submatrices that are drawn for each requested one, if patterns were widened.
constexpr int drawn_of_widened = 2;

/// Properties of a drawn submatrix, hartree, both spins (`grown`: 0 or 1).
enum Kind {
  unknown,       ///< of E - mu N, tightened less computed, without what is known of all submatrices
  by_eps,        ///< the part of it that comes from eps / 10
  before,        ///< what ten times eps had truncated
  matrix_bound,  ///< second order of the error of H'
  beyond,        ///< contribution of rows beyond the reach of eps
  grown,         ///< D reaches rows that it lacks
  electrons,     ///< change of their number
  edge,          ///< size of the truncation at the edge
  kinds
};

/// (x - mu) f(x) less T times the entropy of a state at x: the grand potential, which no error of H or of mu moves to
/// first order through the occupations.
double grand_potential(double x, double mu, double kt) {
  if (kt <= 0.0) return (x - mu) * occupation(x, mu, 0.0);
  const double z = (x - mu) / kt;
  return z > 0.0 ? -kt * std::log1p(std::exp(-z)) : (x - mu) - kt * std::log1p(std::exp(z));
}

}  // namespace

struct ErrorEstimator::Judged {
  std::size_t group = 0, place = 0;  ///< among the groups of the patterns and among all that were drawn
  SolvedColumns solved;
  Spectrum spectrum;
  bool is_short = false, grown = false;  ///< D reaches across the edge; did so, before the submatrix grew
  double with_eps = 0.0;                 ///< grand potential, solved again with the rows of eps / 10
  double change = 0.0;                   ///< of the grand potential by eps / 10, tightened less computed
  double beyond = 0.0;                   ///< further change by rows to which D reaches
  double before = 0.0;                   ///< computed less that of ten times eps
  double electrons = 0.0;
  double edge = 0.0;  ///< bound of the truncation at the edge
};

namespace {

template <class T>
std::vector<int> rows_of_all(const std::vector<T>& judged) {
  std::vector<int> out;
  for (const auto& j : judged) out.insert(out.end(), j.solved.index.blocks.begin(), j.solved.index.blocks.end());
  return unique(std::move(out));
}

}  // namespace

/// Draws the submatrices on which errors will be estimated. Score of a column, a guess of its error: the squares of the
/// blocks that eps truncates, and of the couplings in two steps to rows outside.
void ErrorEstimator::draw() {
  if (job_.options.sample <= 0) return;
  couplings_.note();
  const std::vector<double> outside = couplings_.outside();
  const double reached =
      patterns_.widened() ? share_of_estimate * couplings_.largest() : 0.0;  // contribution of a row to which D reaches
  std::vector<double> mine;
  for (std::size_t g = 0; g < patterns_.groups().size(); ++g) {
    double score = outside[g];
    for (int column : patterns_.groups()[g]) {
      const BlockColumn c = patterns_.group_columns()(column);
      for (std::size_t e = 0; e < c.rows.size(); ++e)
        score += c.norms[e] < job_.options.eps ? c.norms[e] * c.norms[e] + reached * c.norms[e] : 0.0;
    }
    mine.insert(mine.end(), {static_cast<double>(patterns_.groups()[g].front()), score});
  }
  const auto all = all_gather(mine, job_.context.comm);
  std::vector<StratifiedSample::Unit> units;
  for (std::size_t k = 0; k < all.size(); k += 2) units.push_back({static_cast<int>(all[k]), all[k + 1]});
  // Errors of widened columns are of either sign and cancel in their sum, but not in that of a few: of n in N it is
  // seen some sqrt(N / n) times as large as it is. More of them are drawn.
  const int wanted = patterns_.widened() ? drawn_of_widened * job_.options.sample : job_.options.sample;
  drawn_ = StratifiedSample(std::move(units), wanted, job_.context.seed);
}

/// Solves the drawn submatrices with the rows of `judged`; `grown`: only those that grew.
void ErrorEstimator::solve(std::vector<Judged>& judged, const ColumnSet& hamiltonian,
                           const std::optional<ColumnSet>& overlap, bool grown) {
  const double mu = job_.result.mu, kt = job_.options.kt;
  const ExactSolvers solvers = solvers_.exact(overlap, 0.1 * solvers_.krylov().tolerance);
  const ColumnSet coupling = couplings_.known() ? couplings_.of(rows_of_all(judged))
                                                : ColumnSet(patterns_.matrix(), BlockColumns(job_.system.layout));
  for (auto& j : judged) {
    if (grown && !j.grown) continue;
    SolvedColumns& s = j.solved;
    ColumnSolver& work = solvers.of(s.index);
    j.spectrum = work.decompose(s.index, hamiltonian, 0.0, [mu, kt](double x) { return occupation(x, mu, kt); });
    work.column([mu, kt](double x) { return occupation(x, mu, kt); }, s.density);
    const auto norms = reach_.norms(s.index, j.spectrum, mu, s.density, reach_.weighted_column(work), 0, s.index.width);
    if (job_.has_root()) work.column([mu, kt](double x) { return x * occupation(x, mu, kt); }, s.weighted);
    flops_ += work.report().flops;
    s.excitation = excitation(j.spectrum, mu, &s.size);
    if (!grown || patterns_.widened())
      j.with_eps = j.spectrum.trace([mu, kt](double x) { return grand_potential(x, mu, kt); });
    // Widened patterns determine the edge of a submatrix; let_grow() decides whether a tenth of eps needs more rows.
    j.is_short = (patterns_.widened() && !grown) ||
                 (couplings_.known() &&
                  reach_.across_edge(s.index, norms, coupling, {0.1 * job_.options.eps, share_of_estimate}) > 0.0);
    j.grown = j.grown || j.is_short;
    if (couplings_.known()) j.edge = reach_.edge_bound(s.index, norms, coupling, s.excitation);
  }
}

/// Collective: where D reaches across the edge of a drawn submatrix it grows and is solved again.
void ErrorEstimator::widen(std::vector<Judged>& judged) {
  const auto any = std::any_of(judged.begin(), judged.end(), [](const Judged& j) { return j.is_short; });
  if (job_.context.comm.max(any ? 1 : 0) == 0) return;
  std::vector<Growing> growing;
  for (const auto& j : judged)
    if (j.is_short)
      for (int column : j.solved.columns)
        growing.push_back(reach_.started(column, patterns_.group_columns()(column), 0.1 * job_.options.eps));
  reach_.let_grow(growing, {0.1 * job_.options.eps, share_of_estimate});
  auto g = growing.begin();
  for (auto& j : judged) {
    if (!j.is_short) continue;
    std::vector<int> rows = j.solved.index.blocks;
    for (std::size_t k = 0; k < j.solved.columns.size(); ++k, ++g)
      for (const auto& [row, reach] : g->reach)
        if (reach >= 0.1 * job_.options.eps) rows.push_back(row);
    j.solved.index = principal_index(unique(std::move(rows)), *job_.system.layout, j.solved.columns);
  }
  const Problem part = patterns_.problem(rows_of_all(judged));
  solve(judged, part.hamiltonian, part.overlap, true);
}

/// Changes by a solved submatrix, and by the decade of eps before that.
void ErrorEstimator::compare(Judged& j, const Spectrum& own, const ExactSolvers& solvers) {
  const double mu = job_.result.mu, kt = job_.options.kt;
  const MatrixFunction grand = [mu, kt](double x) { return grand_potential(x, mu, kt); },
                       f = [mu, kt](double x) { return occupation(x, mu, kt); };
  const PrincipalIndex index = patterns_.of_group(j.group, 10.0 * job_.options.eps);
  ColumnSolver& work = solvers.of(index);
  const Spectrum& coarse = work.decompose(index, patterns_.columns(), 10.0 * job_.options.eps, f);
  flops_ += work.report().flops;
  j.change = 2.0 * (j.with_eps - own.trace(grand));
  j.beyond = j.grown ? 2.0 * (j.spectrum.trace(grand) - j.with_eps) : 0.0;
  j.before = 2.0 * (own.trace(grand) - coarse.trace(grand));
  j.electrons = 2.0 * (j.spectrum.trace(f) - own.trace(f));
}

std::vector<ErrorEstimator::Judged> ErrorEstimator::drawn_here() const {
  std::vector<Judged> out;
  const auto& drawn = drawn_.drawn();
  for (std::size_t g = 0; g < patterns_.groups().size(); ++g) {
    const auto& group = patterns_.groups()[g];
    if (!drawn_.has(group.front())) continue;
    Judged& j = out.emplace_back();
    j.group = g;
    j.place = static_cast<std::size_t>(std::lower_bound(drawn.begin(), drawn.end(), group.front()) - drawn.begin());
    j.solved.columns = group;
    j.solved.index = patterns_.of_group(g, 0.1 * job_.options.eps);
  }
  return out;
}

/// Each difference is one term of the sum over all submatrices. If all were solved with more rows, the change by these
/// needs no sample, and the sample estimates the rest (a difference estimator, Cochran, chapter 7). The margin is the
/// 95 % interval of the sum, and what is known of the errors of the differences: another decade of eps would change
/// them again, by as much less as this one did compared with the one before, and the error of H' is included to first
/// order only.
void ErrorEstimator::estimate(const ColumnSolutions& solutions, const BlockColumns* root) {
  const auto timer = job_.context.timing.scope("estimate");
  std::vector<Judged> judged = drawn_here();
  solve(judged, patterns_.columns(), patterns_.overlap(), false);
  widen(judged);
  std::vector<SolvedColumns> solved;
  const ExactSolvers solvers = solvers_.exact(patterns_.overlap(), 0.1 * solvers_.krylov().tolerance);
  for (auto& j : judged) {
    compare(j, solutions.spectra()[j.group], solvers);
    solved.push_back(std::move(j.solved));
  }
  std::vector<MatrixError> of_matrix(judged.size());
  if (root && job_.result.left_out == 0.0)
    of_matrix =
        matrix_errors(job_.system, *root, patterns_.matrix(), solved, job_.context.comm, job_.result.bytes, flops_);
  const std::vector<double> wider = changes_by_wider(solutions);
  const std::size_t n = drawn_.drawn().size();
  std::vector<double> values(kinds * n, 0.0);
  for (std::size_t k = 0; k < judged.size(); ++k) {
    const Judged& j = judged[k];
    const auto at = [&](int kind) -> double& { return values[static_cast<std::size_t>(kind) * n + j.place]; };
    at(unknown) = j.change + j.beyond + of_matrix[k].change - wider[j.group];
    at(by_eps) = j.change;
    at(before) = j.before;
    at(beyond) = j.beyond;
    at(grown) = j.grown && !patterns_.widened() ? 1.0 : 0.0;
    at(matrix_bound) = of_matrix[k].bound;
    at(edge) = j.edge;
    at(electrons) = j.electrons;
  }
  job_.context.comm.sum(values);
  state(values, job_.context.comm.sum(std::accumulate(wider.begin(), wider.end(), 0.0)));
}

/// If patterns were widened and trimmed, each submatrix has been solved with more rows: the change of the grand
/// potential by these, for own groups; otherwise zeros.
std::vector<double> ErrorEstimator::changes_by_wider(const ColumnSolutions& solutions) const {
  std::vector<double> out(patterns_.groups().size(), 0.0);
  const double mu = job_.result.mu, kt = job_.options.kt;
  const MatrixFunction grand = [mu, kt](double x) { return grand_potential(x, mu, kt); };
  for (std::size_t g = 0; g < solutions.wider().size(); ++g)
    out[g] = 2.0 * (solutions.wider()[g].trace(grand) - solutions.spectra()[g].trace(grand));
  return out;
}

/// `values`: of each drawn submatrix one kind after the other. `known`: what is known to be missing without a sample.
void ErrorEstimator::state(std::span<const double> values, double known) {
  const std::size_t n = drawn_.drawn().size();
  const auto of = [&](Kind kind, const auto& f) {
    std::vector<double> out;
    for (double v : values.subspan(static_cast<std::size_t>(kind) * n, n)) out.push_back(f(v));
    return drawn_.sum(out);
  };
  const auto same = [](double v) { return v; };
  const auto absolute = [](double v) { return std::abs(v); };
  // Remainders of changes of either sign add up as they do, and by their squares, not by their sizes.
  const auto together = [&](Kind kind) {
    const double squares = of(kind, [](double v) { return v * v; }).total;
    return std::min(of(kind, absolute).total, std::abs(of(kind, same).total) + std::sqrt(squares));
  };
  // The contributions of edges have signs, too, which are unknown: they are assumed to cancel as those of the changes
  // do.
  const double seen = of(by_eps, absolute).total, cancelled = seen > 0.0 ? together(by_eps) / seen : 1.0;
  const auto change = of(unknown, same);
  const double size = of(by_eps, absolute).total, coarser = of(before, absolute).total,
               left = coarser > 0.0 ? std::clamp(size / coarser, least_left, most_left) : most_left;
  const double rounding = 1e-14 * (std::abs(job_.result.energy) + std::abs(job_.result.mu) * job_.result.electrons);
  const double atoms = static_cast<double>(std::max<std::int64_t>(job_.system.atoms, 1));
  auto& error = job_.result.error;
  error.energy_change = (known + change.total) / atoms;
  error.sampling = change.half_width / atoms;
  error.margin = (change.half_width + rounding +
                  safety * (together(by_eps) * left / (1.0 - left) + least_left * together(beyond) +
                            of(matrix_bound, same).total + cancelled * of(edge, same).total)) /
                 atoms;
  error.electron_change = of(electrons, same).total / atoms;
  error.beyond = of(beyond, absolute).total / atoms;
  error.by_eps = size / atoms;
  const auto has_grown = values.subspan(static_cast<std::size_t>(grown) * n, n);
  error.grown = static_cast<int>(std::count(has_grown.begin(), has_grown.end(), 1.0));
  error.submatrices = static_cast<int>(n);
  error.complete = drawn_.complete();
  error.alike = change.alike;
  const double own = job_.context.comm.sum(flops_), columns = job_.context.comm.sum(job_.result.column_flops);
  error.cost = columns > 0.0 ? own / columns : 0.0;
  job_.result.flops += flops_;
  if (job_.options.electrons > 0.0) error.electron_defect = job_.result.electrons - job_.options.electrons;
}

}  // namespace cambium::submatrix
