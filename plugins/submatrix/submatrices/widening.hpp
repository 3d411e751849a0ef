#pragma once
#include <optional>
#include <vector>

#include "plugins/submatrix/submatrices/reach.hpp"

namespace cambium::submatrix {

/// For the columns of each own submatrix the norms of the blocks of D, see Reach::norms().
using DensityNorms = std::vector<std::vector<std::vector<double>>>;

/// Adds to block columns of nearest-neighbour Hamiltonians the rows to which D reaches. If H and S decay, blocks below
/// eps determine where a submatrix may end. If they end before anything is that small, eps truncates nothing and gives
/// no criterion: then the pattern is taken from powers of H, as far as D goes. Solving and widening alternate.
class Widening {
 public:
  Widening(const DensityJob& job, SubmatrixPatterns& patterns, Reach& reach, Couplings& couplings)
      : job_(job), patterns_(patterns), reach_(reach), couplings_(couplings) {}

  /// Collective: computes once what eps truncates from the matrices, and whether any column on any rank may end before
  /// D does.
  void look();
  /// True if the patterns are final.
  bool done() const { return trimmed_ || !reach_.matrices_end(); }
  /// Collective: one round, with D of the patterns as they are. Each column adds rows as far as D is likely to reach;
  /// when there is none to add, those that it does not reach are removed. False when nothing was done.
  bool widen(int round, const DensityNorms& density);
  /// True if the patterns have been trimmed to the rows to which D reaches.
  bool trimmed() const { return trimmed_; }
  /// Block columns of all ranks that were widened, and those that would need more rows than a submatrix may have.
  int widened() const { return widened_; }
  int at_limit() const { return at_limit_; }

 private:
  std::vector<Growing> columns_that_end(const DensityNorms& density);
  std::vector<double> exchanged_rows(const std::vector<Growing>& growing, double least) const;
  bool merge(const std::vector<Growing>& growing, bool last);

  DensityJob job_;
  SubmatrixPatterns& patterns_;
  Reach& reach_;
  Couplings& couplings_;
  /// Blocks of one row, diagonal: squared norm of what eps truncates from the input.
  std::optional<BlockColumns> left_out_;
  int widened_ = 0, at_limit_ = 0;
  bool trimmed_ = false;  ///< patterns were widened, and are as they stay
};

}  // namespace cambium::submatrix
