#include "plugins/submatrix/submatrices/reach.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plugins/submatrix/columns/chemical_potential.hpp"
#include "plugins/submatrix/submatrices/ends.hpp"

namespace cambium::submatrix {

namespace {

/// Part of D across the edge of a submatrix, over eps, above which the reach of D is checked further. A lower one costs
/// time.
constexpr double alarm = 1.0;

bool contains(const std::vector<int>& ascending, int value) {
  return std::binary_search(ascending.begin(), ascending.end(), value);
}

std::vector<int> rows_of_growing(const std::vector<Growing>& growing) {
  std::vector<int> out;
  for (const auto& g : growing)
    if (!g.done) out.insert(out.end(), g.rows.begin(), g.rows.end());
  return unique(std::move(out));
}

}  // namespace

double excitation(const Spectrum& spectrum, double mu, double* size) {
  double below[2] = {0.0, 0.0}, above[2] = {0.0, 0.0}, squares = 0.0;
  for (std::size_t j = 0; j < spectrum.node.size(); ++j) {
    double* side = spectrum.node[j] < mu ? below : above;
    side[0] += spectrum.weight[j];
    side[1] += spectrum.weight[j] * spectrum.node[j];
    squares += spectrum.weight[j] * spectrum.node[j] * spectrum.node[j];
  }
  const double mean_square = std::sqrt(squares / std::max(below[0] + above[0], 1e-30));
  if (size) *size = mean_square;
  return below[0] > 0.0 && above[0] > 0.0 ? above[1] / above[0] - below[1] / below[0] : mean_square;
}

std::vector<double> Reach::norms(const PrincipalIndex& index, const Spectrum& spectrum, double mu,
                                 const std::vector<double>& density, const std::vector<double>& weighted, int first,
                                 int width) const {
  const double scale = weighted.empty() ? 0.0 : 4.0 / excitation(spectrum, mu);
  std::vector<double> out;
  for (std::size_t p = 0; p < index.blocks.size(); ++p) {
    double sums[2] = {};
    for (int i = index.start[p]; i < index.start[p + 1]; ++i)
      for (int q = first; q < first + width; ++q) {
        const auto at = static_cast<std::size_t>(i * index.width + q);
        const double d = density[at], w = weighted.empty() ? 0.0 : scale * (weighted[at] - mu * d);
        sums[0] += d * d;
        sums[1] += w * w;
      }
    out.push_back(std::sqrt(std::max(sums[0], sums[1])));
  }
  return out;
}

std::vector<double> Reach::weighted_column(ColumnSolver& work) const {
  std::vector<double> out;
  const double mu = job_.result.mu, kt = job_.options.kt;
  if (matrices_end_) work.column([mu, kt](double x) { return x * occupation(x, mu, kt); }, out);
  return out;
}

void Reach::mark(const PrincipalIndex& index, bool inside) {
  inside_.resize(job_.blocks(), 0);
  for (int block : index.blocks) inside_[block] = inside ? 1 : 0;
}

double Reach::across_edge(const PrincipalIndex& index, const std::vector<double>& norms, const ColumnSet& coupling,
                          const ReachOptions& reach) {
  const double eps = reach.eps;
  mark(index, true);
  double out = 0.0;
  for (std::size_t p = 0; p < norms.size(); ++p) {
    if (norms[p] * couplings_.largest() < alarm * eps) continue;
    const BlockColumn c = coupling(index.blocks[p]);
    double largest = 0.0;
    for (std::size_t e = 0; e < c.rows.size(); ++e)
      if (c.norms[e] > largest && !inside_[c.rows[e]]) largest = c.norms[e];
    const double leaves = norms[p] * largest;
    if (leaves < alarm * eps || leaves * leaves < 4.0 * reach.share * eps * strongest(c, index.blocks[p])) continue;
    out = std::max(out, leaves);
  }
  mark(index, false);
  return out;
}

double Reach::edge_bound(const PrincipalIndex& index, const std::vector<double>& norms, const ColumnSet& coupling,
                         double excitation) {
  mark(index, true);
  double sum = 0.0;
  for (std::size_t p = 0; p < norms.size(); ++p) {
    const BlockColumn c = coupling(index.blocks[p]);
    for (std::size_t e = 0; e < c.rows.size(); ++e)
      if (!inside_[c.rows[e]]) sum += norms[p] * norms[p] * c.norms[e] * c.norms[e];
  }
  mark(index, false);
  return 2.0 * sum / excitation;
}

void Reach::judge_rows(Growing& g, const PrincipalIndex& index, const std::vector<double>& norms,
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
    // If D vanishes by symmetry, as between atoms of one kind in a chain of two, paths still pass through this row.
    for (std::size_t e = 0; e < c.rows.size() && most > 0.0; ++e)
      if (contains(g.rows, c.rows[e])) raise(c.rows[e], back * c.norms[e] * c.norms[e] / (most * most));
    if (back >= reach.eps) g.front.emplace_back(row, norms[p]);
  }
  g.reach[g.column] = std::numeric_limits<float>::max();
}

void Reach::hop(Growing& g, const ColumnSet& coupling, const ReachOptions& reach) const {
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

void Reach::solve_and_judge(std::vector<Growing>& growing, const std::vector<int>& rows, const ColumnSet& coupling,
                            const ReachOptions& reach) {
  const double mu = job_.result.mu, kt = job_.options.kt;
  const MatrixFunction f = [mu, kt](double x) { return occupation(x, mu, kt); };
  const Problem part = patterns_.problem(rows);
  const ExactSolvers solvers = solvers_.exact(part.overlap, 0.3 * std::sqrt(reach.share * reach.eps));
  std::vector<double> density;
  for (auto& g : growing) {
    if (g.done) continue;
    const PrincipalIndex index = principal_index(g.rows, *job_.system.layout, {&g.column, 1});
    ColumnSolver& work = solvers.of(index);
    const Spectrum& spectrum = work.decompose(index, part.hamiltonian, 0.0, f);
    work.column(f, density);
    job_.result.flops += work.report().flops;
    judge_rows(g, index, norms(index, spectrum, mu, density, weighted_column(work), 0, index.width), coupling, reach);
    g.grew = false;
    if (index.dimension() >= most_functions) g.front.clear();
  }
}

void Reach::let_grow(std::vector<Growing>& growing, const ReachOptions& reach) {
  for (int round = 0;; ++round) {
    const std::vector<int> rows = rows_of_growing(growing);
    ColumnSet coupling = couplings_.of(rows);
    solve_and_judge(growing, rows, coupling, reach);
    for (int k = 0; k < first_hops + round; ++k) {
      if (k > 0) coupling = couplings_.of(rows_of_growing(growing));
      for (auto& g : growing)
        if (!g.done) hop(g, coupling, reach);
    }
    bool any = false;
    for (auto& g : growing) {
      g.done = g.done || !g.grew;
      any |= !g.done;
    }
    if (job_.context.comm.max(any ? 1 : 0) == 0) return;
  }
}

Growing Reach::started(int column, const BlockColumn& c, double eps) const {
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
