#pragma once
#include <optional>
#include <vector>

#include "plugins/submatrix/submatrices/submatrix_patterns.hpp"

namespace cambium::submatrix {

/// Norms of the blocks of the Hamiltonian: the strength of the coupling between rows.
class Couplings {
 public:
  Couplings(const DensityJob& job, const SubmatrixPatterns& patterns) : job_(job), patterns_(patterns) {}

  /// Collective: takes norms from the matrix of the patterns, unless submatrices are not determined by eps.
  void note();
  bool known() const { return norms_.has_value(); }
  /// Collective: those of some columns (ascending), one row for each block.
  ColumnSet of(const std::vector<int>& columns) const;
  double largest() const { return largest_; }  ///< of two different blocks, on all ranks
  /// Collective: of each own submatrix the sum over rows outside of the square of their largest coupling in two steps
  /// to its columns, |H_cr| |H_ro| over the largest coupling of all; the rows to which D reaches where H ends before it
  /// does.
  std::vector<double> outside() const;

 private:
  DensityJob job_;
  const SubmatrixPatterns& patterns_;
  std::optional<BlockColumns> norms_;
  double largest_ = 0.0;
};

/// Strongest coupling of a row to another; its own column has no such limit.
double strongest(const BlockColumn& coupling, int row);

}  // namespace cambium::submatrix
