#pragma once
#include <optional>
#include <vector>

#include "plugins/submatrix/submatrices/reach.hpp"

namespace cambium::submatrix {

/// For the columns of each own submatrix the norms of the blocks of D, see Reach::norms().
using DensityNorms = std::vector<std::vector<std::vector<double>>>;

/// Gives block columns of Hamiltonians of neighbours the rows to which D reaches. Where H and S fall off, blocks below
/// eps say where a submatrix may end. Where they end before anything is that small, eps leaves nothing out and says
/// nothing: then the pattern is taken from powers of H, as far as D goes. Rounds of solving and widening follow each
/// other.
class Widening {
 public:
  Widening(const DensityJob& job, SubmatrixPatterns& patterns, Reach& reach, Couplings& couplings)
      : job_(job), patterns_(patterns), reach_(reach), couplings_(couplings) {}

  /// Collective: looks once what eps leaves out of the matrices, and notes whether any column on any rank may end
  /// before D does.
  void look();
  /// True if nothing will change any more.
  bool done() const { return trimmed_ || !reach_.matrices_end(); }
  /// Collective: one round, with D of the patterns as they are. Each column adds rows as far as D is likely to reach;
  /// when there is none to add, those to which it does not reach leave again. False when nothing was done.
  bool widen(int round, const DensityNorms& density);
  /// True if the patterns have been cut to the rows to which D reaches.
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
  /// Blocks of one row, diagonal: what eps leaves out of the input, squared.
  std::optional<BlockColumns> left_out_;
  int widened_ = 0, at_limit_ = 0;
  bool trimmed_ = false;  ///< patterns were widened, and are as they stay
};

}  // namespace cambium::submatrix
