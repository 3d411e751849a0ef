#include "plugins/submatrix/submatrices/submatrix_patterns.hpp"

#include <algorithm>

#include "plugins/submatrix/submatrices/submatrix_cost.hpp"
#include "plugins/submatrix/submatrices/work_shares.hpp"

namespace cambium::submatrix {

/// One submatrix for each block column. A predictor evaluates own columns one by one, and the caller's own solver may:
/// then owners solve.
void SubmatrixPatterns::deal_columns(int krylov_blocks) {
  const auto& [system, options, context, result] = job_;
  std::vector<double> cost;
  const SubmatrixCost predicted = submatrix_cost(options, krylov_blocks);
  const bool bound = options.predictor || options.make_solver;
  if (context.comm.size() > 1 && !bound)
    for (int column : matrix_->columns()) {
      const PrincipalIndex index = of_column(column, options.eps);
      cost.push_back(predicted(index.dimension(), index.width));
    }
  const WorkShares shares = bound ? WorkShares{system.ranges} : work_shares(cost, system.ranges, context.comm);
  moved_ = shares.ranges.first != system.ranges.first;
  for (int column = shares.ranges.begin(context.comm.rank()); column < shares.ranges.end(context.comm.rank()); ++column)
    groups_.push_back({column});
}

void SubmatrixPatterns::choose(int krylov_blocks) {
  const auto& [system, options, context, result] = job_;
  groups_.clear();
  if (options.groups.by == GroupBy::none) {
    deal_columns(krylov_blocks);
    return keep_groups();
  }
  moved_ = true;
  const Grouping all = choose_groups(gathered_pattern(rows(), options.eps, context.comm), *system.layout,
                                     system.centres, options.groups, submatrix_cost(options));
  result.groups = {all.by, all.ratio};
  const ColumnRanges ranges = ColumnRanges::balanced(all.cost, context.comm.size());
  for (int g = ranges.begin(context.comm.rank()); g < ranges.end(context.comm.rank()); ++g) {
    const auto& group = all.groups[g];
    for (int s = 0; s < system.channels; ++s) {  // channels have nothing in common, but space does not know that
      std::vector<int> own;
      for (int column : group)
        if (column % system.channels == s) own.push_back(column);
      if (!own.empty()) groups_.push_back(std::move(own));
    }
  }
  keep_groups();
}

void SubmatrixPatterns::keep_groups() {
  if (!moved_) {
    group_columns_.emplace(rows(), BlockColumns(rows().shared_layout()));
    return;
  }
  std::vector<int> columns;
  for (const auto& group : groups_) columns.insert(columns.end(), group.begin(), group.end());
  std::sort(columns.begin(), columns.end());
  group_columns_ =
      fetch_columns(rows(), job_.system.ranges, columns, WantedRows::all, job_.context.comm, job_.result.bytes);
}

std::vector<int> SubmatrixPatterns::needed_columns(const std::vector<int>& tried, const StratifiedSample& drawn) const {
  std::vector<char> needed(job_.blocks(), 0);
  const auto mark = [&](const BlockColumn& c, int column, double least) {
    for (std::size_t e = 0; e < c.rows.size(); ++e)
      if (c.norms[e] >= least || c.rows[e] == column) needed[c.rows[e]] = 1;
  };
  for (const auto& group : groups_)
    for (int column : group)
      mark((*group_columns_)(column), column,
           job_.options.sample > 0 && drawn.has(group.front()) ? 0.0 : job_.options.eps);
  for (int column : tried)
    if (job_.owns(column)) mark(rows().column(column), column, job_.options.eps);
  std::vector<int> out;
  for (std::size_t b = 0; b < needed.size(); ++b)
    if (needed[b]) out.push_back(static_cast<int>(b));
  return out;
}

void SubmatrixPatterns::fetch(const std::vector<int>& tried, const StratifiedSample& drawn) {
  Problem needs = problem(needed_columns(tried, drawn));
  columns_ = std::move(needs.hamiltonian);
  overlap_ = std::move(needs.overlap);
}

Problem SubmatrixPatterns::problem(const std::vector<int>& columns) const {
  const auto fetched = [&](const BlockColumns& matrix) {
    return fetch_columns(matrix, job_.system.ranges, columns, WantedRows::upper_among_wanted, job_.context.comm,
                         job_.result.bytes);
  };
  if (job_.options.form != Form::local) return {fetched(*matrix_), {}};
  return {fetched(job_.system.hamiltonian), fetched(job_.system.overlap)};
}

PrincipalIndex SubmatrixPatterns::of_column(int column, double eps) const {
  return principal_index(rows(), *job_.system.layout, column, eps);
}

PrincipalIndex SubmatrixPatterns::of_group(std::size_t group, double eps) const {
  return principal_index(*group_columns_, *job_.system.layout, groups_[group], eps);
}

PrincipalIndex SubmatrixPatterns::alone(int column) const {
  return principal_index(*group_columns_, *job_.system.layout, {&column, 1}, job_.options.eps);
}

}  // namespace cambium::submatrix
