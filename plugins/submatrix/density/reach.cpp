// The parts of the error estimate that look how far D reaches. Blocks of the orthogonalised Hamiltonian say which rows
// a block column needs only where they fall off as slowly as D does. A Hamiltonian of neighbours alone ends before D
// has fallen off at all, and no eps changes that; the submatrices that judge the result get the rows to which their own
// D reaches.
#include <algorithm>
#include <cmath>
#include <limits>

#include "plugins/submatrix/density/density_step.hpp"
#include "plugins/submatrix/density/ends.hpp"

namespace cambium::submatrix {

namespace {

/// What D takes across the edge of a submatrix, over eps, from which on it is looked whether D reaches further. A lower
/// one costs time.
constexpr double alarm = 1.0;
/// What a row at the edge does to D of the wanted block goes there and back: it is of the order of |D|^2 times the
/// coupling that is cut. The row belongs to the submatrix when this is ReachOptions::share times eps. Submatrices of no
/// more functions are diagonalised while their rows are looked for.
constexpr int small = 300;

/// Strongest coupling of a row to another; its own column has no such limit.
double strongest(const BlockColumn& coupling, int row) {
  double out = 0.0;
  for (std::size_t e = 0; e < coupling.rows.size(); ++e)
    if (coupling.rows[e] != row) out = std::max(out, coupling.norms[e]);
  return out;
}

bool contains(const std::vector<int>& ascending, int value) {
  return std::binary_search(ascending.begin(), ascending.end(), value);
}

}  // namespace

/// The norms of the blocks of own columns of the Hamiltonian, as a matrix of one row for each block, so that ranks can
/// ask for them.
void DensityStep::note_couplings() {
  if (system_.bonds || options_.make_solver || options_.eps <= 0.0) return;
  if (!block_layout_) block_layout_ = layout_of_blocks(*system_.layout);
  coupling_ = norms_of(*hamiltonian_, block_layout_);
  largest_coupling_ = 0.0;
  for (int column : coupling_->columns())
    largest_coupling_ = std::max(largest_coupling_, strongest(coupling_->column(column), column));
  largest_coupling_ = context_.comm.max(largest_coupling_);
}

/// Collective: of each own submatrix the sum over rows outside of the square of their largest coupling in two steps to
/// its columns, |H_cr| |H_ro| over the largest coupling of all; the rows to which D reaches where H ends before it
/// does.
std::vector<double> DensityStep::couplings_outside() {
  std::vector<double> out(groups_.size(), 0.0);
  if (!coupling_) return out;
  std::vector<int> rows;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const PrincipalIndex index = group_index(g, options_.eps);
    rows.insert(rows.end(), index.blocks.begin(), index.blocks.end());
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  const ColumnSet coupling = couplings(rows);
  const auto blocks = static_cast<std::size_t>(system_.layout->blocks());
  std::vector<double> largest(blocks, 0.0);
  for (std::size_t g = 0; g < groups_.size() && largest_coupling_ > 0.0; ++g) {
    std::vector<int> reached;
    for (int column : groups_[g]) {
      const BlockColumn c = coupling(column);
      for (std::size_t e = 0; e < c.rows.size(); ++e) {
        if (c.rows[e] == column || c.norms[e] < options_.eps) continue;
        const BlockColumn next = coupling(c.rows[e]);
        for (std::size_t k = 0; k < next.rows.size(); ++k) {
          double& value = largest[static_cast<std::size_t>(next.rows[k])];
          if (value == 0.0) reached.push_back(next.rows[k]);
          value = std::max(value, c.norms[e] * next.norms[k] / largest_coupling_);
        }
      }
    }
    for (int block : group_index(g, options_.eps).blocks) largest[static_cast<std::size_t>(block)] = 0.0;
    for (int row : reached) out[g] += largest[static_cast<std::size_t>(row)] * largest[static_cast<std::size_t>(row)];
    for (int row : reached) largest[static_cast<std::size_t>(row)] = 0.0;
  }
  return out;
}

ColumnSet DensityStep::couplings(const std::vector<int>& columns) {
  return fetch_columns(*coupling_, system_.ranges, columns, WantedRows::all, context_.comm, result_.bytes);
}

/// Frobenius norm of each block of rows of the columns first .. first + width - 1 of D, or of (H' - mu) D over an
/// energy of its own where that is more: between atoms of one kind in a chain of two D vanishes by symmetry, and the
/// energy does not. Only where matrices end; blocks that fall off have no such zeros. `weighted`: H' D.
std::vector<double> DensityStep::reaching(const PrincipalIndex& index, const Spectrum& spectrum, double mu,
                                          const std::vector<double>& density, const std::vector<double>& weighted,
                                          int first, int width) const {
  const double scale = weighted.empty() ? 0.0 : 4.0 / excitation(spectrum, mu);
  std::vector<double> out;
  for (std::size_t p = 0; p < index.blocks.size(); ++p) {
    double sums[2] = {};
    for (int i = index.start[p]; i < index.start[p + 1]; ++i)
      for (int q = first; q < first + width; ++q) {
        const auto at = static_cast<std::size_t>(i * index.width + q);
        const double d = density[at], w = weighted.empty() ? 0.0 : scale * (weighted[at] - mu * d);
        sums[0] += d * d, sums[1] += w * w;
      }
    out.push_back(std::sqrt(std::max(sums[0], sums[1])));
  }
  return out;
}

/// H' D of the last decompose() of a solver where reaching() wants it.
std::vector<double> DensityStep::weighted_column(ColumnSolver& work) const {
  std::vector<double> out;
  const double mu = result_.mu, kt = options_.kt;
  if (ends_) work.column([mu, kt](double x) { return x * occupation(x, mu, kt); }, out);
  return out;
}

/// Largest |D_r| |H_or| for a row r inside and o outside of the submatrix, where it is more than `alarm` eps and what
/// it does to the energy counts; 0 elsewhere.
double DensityStep::across_edge(const PrincipalIndex& index, const std::vector<double>& norms,
                                const ColumnSet& coupling, const ReachOptions& reach) {
  const double eps = reach.eps;
  inside_.resize(static_cast<std::size_t>(system_.layout->blocks()), 0);
  for (int block : index.blocks) inside_[static_cast<std::size_t>(block)] = 1;
  double out = 0.0;
  for (std::size_t p = 0; p < norms.size(); ++p) {
    if (norms[p] * largest_coupling_ < alarm * eps) continue;
    const BlockColumn c = coupling(index.blocks[p]);
    double largest = 0.0;
    for (std::size_t e = 0; e < c.rows.size(); ++e)
      if (c.norms[e] > largest && !inside_[static_cast<std::size_t>(c.rows[e])]) largest = c.norms[e];
    const double leaves = norms[p] * largest;
    if (leaves < alarm * eps || leaves * leaves < 4.0 * reach.share * eps * strongest(c, index.blocks[p])) continue;
    out = std::max(out, leaves);
  }
  for (int block : index.blocks) inside_[static_cast<std::size_t>(block)] = 0;
  return out;
}

/// What is still missing at the edge, Hartree: the square of each |D_r| |H_or| over the energy that an excitation
/// takes, both spins.
double DensityStep::edge_bound(const PrincipalIndex& index, const std::vector<double>& norms, const ColumnSet& coupling,
                               double excitation) {
  inside_.resize(static_cast<std::size_t>(system_.layout->blocks()), 0);
  for (int block : index.blocks) inside_[static_cast<std::size_t>(block)] = 1;
  double sum = 0.0;
  for (std::size_t p = 0; p < norms.size(); ++p) {
    const BlockColumn c = coupling(index.blocks[p]);
    for (std::size_t e = 0; e < c.rows.size(); ++e)
      if (!inside_[static_cast<std::size_t>(c.rows[e])]) sum += norms[p] * norms[p] * c.norms[e] * c.norms[e];
  }
  for (int block : index.blocks) inside_[static_cast<std::size_t>(block)] = 0;
  return 2.0 * sum / excitation;
}

Problem DensityStep::problem(const std::vector<int>& columns) {
  const auto fetched = [&](const BlockColumns& matrix) {
    return fetch_columns(matrix, system_.ranges, columns, WantedRows::upper_among_wanted, context_.comm, result_.bytes);
  };
  if (options_.form != Form::local) return {fetched(*hamiltonian_), {}};
  return {fetched(system_.hamiltonian), fetched(system_.overlap)};
}

ExactSolvers DensityStep::exact_solvers(const std::optional<ColumnSet>& overlap, double tolerance) const {
  const int blocks = system_.layout->blocks();
  KrylovOptions krylov = this->krylov();
  krylov.tolerance = tolerance, krylov.most = std::max(krylov.most, 300);
  ExactSolvers out;
  if (options_.make_solver || system_.bonds)
    out.small = solver(krylov);
  else if (options_.form == Form::local)
    out.small = make_local_diagonaliser(blocks, *overlap, options_.overlap_threshold);
  else
    out.small = make_diagonaliser(blocks), out.small_until = small;
  if (out.small_until > 0 && options_.solver != SolverKind::diagonalise)
    out.large = make_lanczos<double>(blocks, krylov);
  return out;
}

/// The rows that belong to a solved submatrix, and those among them from which it may have to grow.
void DensityStep::judge_rows(Growing& g, const PrincipalIndex& index, const std::vector<double>& norms,
                             const ColumnSet& coupling, const ReachOptions& reach) const {
  g.front.clear();
  g.reach.clear();
  for (std::size_t p = 0; p < norms.size(); ++p) {
    const int row = index.blocks[p];
    const BlockColumn c = coupling(row);
    const double most = strongest(c, row), back = norms[p] * norms[p] * most / reach.share;
    const auto raise = [&](int to, double value) {
      auto& largest = g.reach[to];
      largest = std::max(largest, value);
    };
    raise(row, std::max(g.pattern.count(row) ? g.pattern.at(row) : 0.0, back));
    // Where D vanishes by symmetry, as between atoms of one kind in a chain of two, its path still goes through.
    for (std::size_t e = 0; e < c.rows.size() && most > 0.0; ++e)
      if (contains(g.rows, c.rows[e])) raise(c.rows[e], back * c.norms[e] * c.norms[e] / (most * most));
    if (back >= reach.eps) g.front.emplace_back(row, norms[p]);
  }
  g.reach[g.column] = std::numeric_limits<float>::max();
}

/// One hop from the front of a growing submatrix. The estimate of D beyond is that inside times the share of the
/// coupling.
void DensityStep::hop(Growing& g, const ColumnSet& coupling, const ReachOptions& reach) const {
  std::map<int, double> next;
  for (const auto& [row, density] : g.front) {
    const BlockColumn c = coupling(row);
    const double most = strongest(c, row);
    for (std::size_t e = 0; e < c.rows.size(); ++e) {
      const double beyond = most > 0.0 ? density * c.norms[e] / most : 0.0;
      if (beyond * beyond * most < reach.share * reach.eps || contains(g.rows, c.rows[e])) continue;
      auto& largest = next[c.rows[e]];
      largest = std::max(largest, beyond);
    }
  }
  g.front.assign(next.begin(), next.end());
  if (next.empty()) return;
  for (const auto& [row, density] : next) g.rows.push_back(row);
  std::sort(g.rows.begin(), g.rows.end());
  g.grew = true;
}

/// Collective: lets the submatrices of `growing` grow until D inside says that no row is missing at `eps`.
void DensityStep::let_grow(std::vector<Growing>& growing, const ReachOptions& reach) {
  const double mu = result_.mu, kt = options_.kt;
  const auto rows_of_growing = [&growing] {
    std::vector<int> out;
    for (const auto& g : growing)
      if (!g.done) out.insert(out.end(), g.rows.begin(), g.rows.end());
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  };
  for (int round = 0;; ++round) {
    const std::vector<int> rows = rows_of_growing();
    const Problem part = problem(rows);
    ColumnSet coupling = couplings(rows);
    const ExactSolvers solvers = exact_solvers(part.overlap, 0.3 * std::sqrt(reach.share * reach.eps));
    for (auto& g : growing) {
      if (g.done) continue;
      const PrincipalIndex index = principal_index(g.rows, *system_.layout, {&g.column, 1});
      ColumnSolver& work = solvers.of(index);
      const Spectrum& spectrum =
          work.decompose(index, part.hamiltonian, 0.0, [mu, kt](double x) { return occupation(x, mu, kt); });
      std::vector<double> density;
      work.column([mu, kt](double x) { return occupation(x, mu, kt); }, density);
      result_.flops += work.report().flops;
      judge_rows(g, index, reaching(index, spectrum, mu, density, weighted_column(work), 0, index.width), coupling,
                 reach);
      g.grew = false;
      if (index.dimension() >= most_functions) g.front.clear();
    }
    for (int k = 0; k < first_hops + round; ++k) {
      if (k > 0) coupling = couplings(rows_of_growing());
      for (auto& g : growing)
        if (!g.done) hop(g, coupling, reach);
    }
    bool any = false;
    for (auto& g : growing) g.done = g.done || !g.grew, any |= !g.done;
    if (context_.comm.max(any ? 1 : 0) == 0) return;
  }
}

Growing DensityStep::started(int column, const BlockColumn& c, double eps) const {
  Growing out;
  out.column = column;
  for (std::size_t e = 0; e < c.rows.size(); ++e) {
    out.pattern[c.rows[e]] = c.norms[e];
    if (c.norms[e] >= eps || c.rows[e] == column) out.rows.push_back(c.rows[e]);
  }
  if (!contains(out.rows, column)) out.rows.insert(std::lower_bound(out.rows.begin(), out.rows.end(), column), column);
  return out;
}

}  // namespace cambium::submatrix
