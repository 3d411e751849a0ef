#include "plugins/submatrix/submatrices/inverse_root.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.hpp"
#include "plugins/submatrix/blocks/smallest_eigenvalue.hpp"
#include "plugins/submatrix/blocks/symmetrise.hpp"
#include "plugins/submatrix/submatrices/ends.hpp"

namespace cambium::submatrix {

namespace {

struct Lowest {
  double value;
  int column;
};

/// Collective: the smallest eigenvalue of all ranks, with its column.
Lowest agree(Lowest mine, const Comm& comm) {
  Lowest out = mine;
  MPI_Allreduce(&mine, &out, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm.handle());
  return out;
}

/// Warning: S is far from singular, but its truncated blocks are not small compared with its eigenvalues.
std::string coarse(std::string_view key, double eps) {
  return fmt::format("{} {:g} drops blocks of S that are not small compared with its smallest eigenvalues", key, eps);
}

}  // namespace

double judge_overlap(double smallest, int column, std::string_view key, double eps, const Comm& comm, Log& log) {
  const Lowest lowest = agree({smallest, column}, comm);
  smallest = lowest.value;
  column = lowest.column;
  if (smallest < singular_overlap)
    throw InputError(
        fmt::format("S is nearly singular: an eigenvalue of {:.3g} near block {} (counted from 0), less than {:g}; add "
                    "overlap_threshold: 1e-5, which leaves out "
                    "such combinations of functions, or leave the most diffuse functions out of the basis",
                    smallest, column, singular_overlap));
  if (smallest < soft_overlap)
    log.warn(fmt::format(
        "S is nearly singular: an eigenvalue of {:.3g} near block {} (counted from 0), which magnifies errors of "
        "truncation; compare with "
        "overlap_threshold: 1e-5, which leaves out such combinations of functions, or with blocks of S below {:g}",
        smallest, column, eps));
  else if (smallest < 10.0 * eps)
    log.warn(fmt::format("{}, an eigenvalue of {:.3g} near block {} (counted from 0); take {}: {:.1g} or less",
                         coarse(key, eps), smallest, column, key, 0.05 * smallest));
  return smallest;
}

double judge_whole_overlap(const BlockColumns& overlap, const RootResult* root, double seen, const ColumnRanges& ranges,
                           const DensityOptions& options, Context& context) {
  // S^-1/2 preconditions the search, which is slow otherwise; but without it the cost is hidden by that of many
  // submatrices.
  constexpr int most_with_root = 60, most_without = 300;
  const bool projects = root && root->left_out;
  const std::string_view key = root ? "eps_filter_overlap" : "eps_filter";
  const double eps = root ? options.eps_overlap : options.eps;
  const LowestState lowest =
      smallest_eigenvalue({overlap, root ? &root->root : nullptr, projects ? &*root->left_out : nullptr}, ranges,
                          context.comm, root ? most_with_root : most_without);
  // A matrix always has an eigenvalue below those of its submatrices; far below it is another state.
  const double limit = projects ? options.overlap_threshold : std::max(soft_overlap, 10.0 * eps),
               shown = projects ? options.overlap_threshold : seen;
  if (lowest.value >= std::min(limit, 0.5 * shown)) return seen;
  const std::string where = fmt::format(
      "an eigenvalue of {:.3g} or less, most of it near block {} (counted from 0), that no submatrix shows ({}), so "
      "that overlap_threshold does not find it",
      lowest.value, lowest.block,
      projects ? fmt::format("what is up to {:g} there is left out", shown)
               : fmt::format("the smallest of theirs is {:.3g}", shown));
  if (lowest.value < singular_overlap)
    throw InputError(fmt::format("S is nearly singular: {}; leave the most diffuse functions out of the basis", where));
  if (lowest.value >= soft_overlap && !projects) {
    context.log.warn(fmt::format("{}: {}; take {}: {:.1g} or less", coarse(key, eps), where, key, 0.05 * lowest.value));
    return lowest.value;
  }
  context.log.warn(
      fmt::format("S is nearly singular: {}; errors of truncation are magnified: compare with {}: {:.0e}, or leave the "
                  "most diffuse "
                  "functions out of the basis",
                  where, key, 0.1 * eps));
  return lowest.value;
}

namespace {

/// The submatrices of S: their rows, and the block columns of S^-1/2 that they give.
class RootColumns {
 public:
  RootColumns(const BlockColumns& overlap, const ColumnRanges& ranges, double eps, double threshold, const Comm& comm,
              std::int64_t& bytes, double& flops)
      : overlap_(overlap), ranges_(ranges), comm_(comm), eps_(eps), threshold_(threshold), bytes_(bytes),
        flops_(flops) {
    for (int column : overlap.columns()) {
      rows_.push_back(unique(principal_index(overlap, column, eps).blocks));
      const BlockColumn c = overlap.column(column);
      const double squares = squares_below(c, column, eps);
      left_.push_back(may_end(squares, least_kept(c, column, eps), eps) ? squares : ended_by_eps);
    }
  }
  void solve(ColumnSolver& solver);
  bool widen(int round);
  RootResult result();

 private:
  bool hop(std::size_t k, const ColumnSet& coupling, std::map<int, double>& front);

  const BlockColumns& overlap_;
  const ColumnRanges& ranges_;
  const Comm& comm_;
  double eps_, threshold_;
  std::int64_t& bytes_;
  double& flops_;
  std::vector<std::vector<int>> rows_;  ///< of the submatrices of own columns, ascending
  std::vector<double> left_;            ///< squared norms of what eps truncates from own columns
  std::optional<BlockColumns> norms_;   ///< of the blocks of S, one row for each
  std::optional<BlockColumns> z_, left_out_;
  Lowest lowest_{1e300, 0};
  double steps_ = 0.0, sizes_ = 0.0, trace_ = 0.0;
  int largest_ = 0;
};

void RootColumns::solve(ColumnSolver& solver) {
  std::vector<int> needed;
  for (const auto& rows : rows_) needed.insert(needed.end(), rows.begin(), rows.end());
  needed = unique(std::move(needed));
  const ColumnSet set = fetch_columns(overlap_, ranges_, needed, WantedRows::upper_among_wanted, comm_, bytes_,
                                      std::vector<double>(needed.size(), eps_));
  const MatrixFunction root = [t = threshold_](double x) { return x > t ? 1.0 / std::sqrt(x) : 0.0; };
  const MatrixFunction small = [t = threshold_](double x) { return x > t ? 0.0 : 1.0; };
  BlockColumns z(overlap_.shared_layout()), left_out(overlap_.shared_layout());
  std::vector<double> values;
  const auto add = [&](const PrincipalIndex& index, int column, BlockColumns& to) {
    to.start_column(column);
    for (std::size_t p = 0; p < index.blocks.size(); ++p)
      to.add_block(index.blocks[p], values.data() + index.start[p] * index.width);
  };
  lowest_ = {1e300, 0};
  steps_ = sizes_ = trace_ = 0.0;
  largest_ = 0;
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const int column = overlap_.columns()[k];
    const PrincipalIndex index = principal_index(rows_[k], overlap_.layout(), {&column, 1});
    const Spectrum& spectrum = solver.decompose(index, set, eps_, root);
    for (double node : spectrum.node)
      if (node < lowest_.value) lowest_ = {node, column};
    solver.column(root, values);
    add(index, column, z);
    if (threshold_ > 0.0) {
      trace_ += spectrum.trace(small);
      solver.column(small, values);
      add(index, column, left_out);
    }
    steps_ += solver.report().steps;
    flops_ += solver.report().flops;
    sizes_ += index.dimension();
    largest_ = std::max(largest_, index.dimension());
  }
  z.finish();
  left_out.finish();
  z_ = std::move(z);
  left_out_ = std::move(left_out);
}

/// Adds to a submatrix the rows that its block column of S^-1/2 reaches in one hop from `front` (rows with the norm
/// there), as far as that is eps or more: S^-1/2 = 1 - (S - 1) / 2 + ... falls from hop to hop at least as S does.
bool RootColumns::hop(std::size_t k, const ColumnSet& coupling, std::map<int, double>& front) {
  std::map<int, double> next;
  for (const auto& [row, norm] : front) {
    const BlockColumn c = coupling(row);
    for (std::size_t e = 0; e < c.rows.size(); ++e) {
      if (c.norms[e] < eps_ || norm * c.norms[e] < eps_ ||
          std::binary_search(rows_[k].begin(), rows_[k].end(), c.rows[e]))
        continue;
      double& largest = next[c.rows[e]];
      largest = std::max(largest, norm * c.norms[e]);
    }
  }
  for (const auto& [row, norm] : next) rows_[k].push_back(row);
  std::sort(rows_[k].begin(), rows_[k].end());
  front = std::move(next);
  return !front.empty();
}

/// Collective: where S ends before S^-1/2 does, its columns get the rows of powers of S, until S^-1/2 takes less than
/// eps across the edge of their submatrices. False when none got any.
bool RootColumns::widen(int round) {
  if (comm_.max(std::any_of(left_.begin(), left_.end(), [](double left) { return left < ended_by_eps; }) ? 1 : 0) ==
          0 ||
      round == most_rounds)
    return false;
  if (!norms_) norms_ = norms_of(overlap_, layout_of_blocks(overlap_.layout()));
  std::vector<std::map<int, double>> fronts(rows_.size());
  std::vector<char> inside(overlap_.layout().blocks(), 0);
  bool grew = false;
  for (int k = 0; k < first_hops + round; ++k) {
    std::vector<int> rows;
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (k == 0)
        rows.insert(rows.end(), rows_[i].begin(), rows_[i].end());
      else
        for (const auto& [row, norm] : fronts[i]) rows.push_back(row);
    const ColumnSet coupling = fetch_columns(*norms_, ranges_, unique(std::move(rows)), WantedRows::all, comm_, bytes_);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (k == 0 && left_[i] < ended_by_eps) {
        const int column = overlap_.columns()[i];
        const PrincipalIndex index = principal_index(rows_[i], overlap_.layout(), {&column, 1});
        const BlockColumn z = z_->column(column);
        const std::vector<double> norms(z.norms, z.norms + z.rows.size());
        if (index.dimension() < most_functions && ends(left_[i], squares_across(index, norms, coupling, eps_, inside)))
          for (std::size_t e = 0; e < norms.size(); ++e) fronts[i][z.rows[e]] = norms[e];
      }
      grew |= hop(i, coupling, fronts[i]);
    }
  }
  return comm_.max(grew ? 1 : 0) > 0;
}

/// Collective.
RootResult RootColumns::result() {
  const Lowest lowest = agree(lowest_, comm_);
  if (lowest.value <= -threshold_)
    throw InputError(fmt::format(
        "S is not positive definite: an eigenvalue of {:.6g} near block {} (counted from 0); look for atoms that "
        "coincide there, or for functions that depend linearly on others",
        lowest.value, lowest.column));
  const double columns = comm_.sum(static_cast<double>(overlap_.columns().size()));
  std::optional<BlockColumns> projector;
  if (threshold_ > 0.0) projector = symmetrised(*left_out_, ranges_, comm_, bytes_);
  return {symmetrised(*z_, ranges_, comm_, bytes_),
          std::move(projector),
          comm_.sum(trace_),
          lowest.value,
          lowest.column,
          comm_.sum(sizes_) / columns,
          comm_.max(largest_),
          comm_.sum(steps_) / columns};
}

}  // namespace

RootResult inverse_root(const BlockColumns& overlap, const ColumnRanges& ranges, double eps, double threshold,
                        ColumnSolver& solver, const Comm& comm, std::int64_t& bytes, double& flops) {
  RootColumns columns(overlap, ranges, eps, threshold, comm, bytes, flops);
  columns.solve(solver);
  for (int round = 0; columns.widen(round); ++round) columns.solve(solver);
  return columns.result();
}

}  // namespace cambium::submatrix
