#pragma once
#include <optional>
#include <vector>

#include "plugins/submatrix/blocks/error_sample.hpp"
#include "plugins/submatrix/columns/exact_solvers.hpp"
#include "plugins/submatrix/submatrices/density_job.hpp"

namespace cambium::submatrix {

/// Set of submatrices: the block columns of each, the rows that belong to it, and the blocks that this rank needs from
/// other ranks.
class SubmatrixPatterns {
 public:
  explicit SubmatrixPatterns(const DensityJob& job) : job_(job) {}

  /// The orthogonalised Hamiltonian. In the local form: of H and S whichever block is larger. Its norms are the pattern
  /// until rows are added by widening.
  void set_matrix(BlockColumns matrix) { matrix_ = std::move(matrix); }
  const BlockColumns& matrix() const { return *matrix_; }
  /// One row for each block: the largest eps at which a row belongs to the submatrix of a column.
  void widen(BlockColumns reach) { widened_ = std::move(reach); }
  bool widened() const { return widened_.has_value(); }
  /// The matrix whose norms determine the rows of a column.
  const BlockColumns& rows() const { return widened_ ? *widened_ : *matrix_; }

  /// Collective: groups columns into submatrices and assigns these to ranks. `krylov_blocks`: see submatrix_cost().
  void choose(int krylov_blocks);
  /// Collective: the same submatrices with the rows that now belong to them.
  void keep_groups();
  /// Collective: fetches what the submatrices of this rank need, and those of the columns `tried` that it owns; of the
  /// submatrices `drawn` with the rows of any eps.
  void fetch(const std::vector<int>& tried, const StratifiedSample& drawn);
  const std::vector<std::vector<int>>& groups() const { return groups_; }  ///< that this rank solves
  /// True if some rank solves columns that another one owns. The same on every rank.
  bool moved() const { return moved_; }
  /// All blocks of the columns of groups().
  const ColumnSet& group_columns() const { return *group_columns_; }
  /// Columns that fetch() got of the matrix (local form: of H), and of S in the local form.
  const ColumnSet& columns() const { return *columns_; }
  const std::optional<ColumnSet>& overlap() const { return overlap_; }

  PrincipalIndex of_column(int column, double eps) const;
  PrincipalIndex of_group(std::size_t group, double eps) const;
  /// Rows that a column of groups() has by its own pattern.
  PrincipalIndex alone(int column) const;
  /// Collective: what submatrices of these columns need.
  Problem problem(const std::vector<int>& columns) const;

 private:
  void deal_columns(int krylov_blocks);
  std::vector<int> needed_columns(const std::vector<int>& tried, const StratifiedSample& drawn) const;

  DensityJob job_;
  std::optional<BlockColumns> matrix_, widened_;
  std::vector<std::vector<int>> groups_;
  bool moved_ = false;
  std::optional<ColumnSet> group_columns_, columns_, overlap_;
};

}  // namespace cambium::submatrix
