#pragma once
// Columns of matrices that end before the function computed from them does. If a matrix decays, its blocks below eps
// determine where a submatrix may end. If it ends before its blocks are that small, eps truncates nothing and gives no
// criterion.
#include <memory>
#include <vector>

#include "plugins/submatrix/columns/principal.hpp"

namespace cambium::submatrix {

/// Hops by which a submatrix is widened in the first round of solving and widening; one more in each that follows.
inline constexpr int first_hops = 3;
/// Maximum number of rounds of widening.
inline constexpr int most_rounds = 40;
/// Largest number of functions to which a submatrix is widened.
inline constexpr int most_functions = 6000;

/// Ascending, each once.
std::vector<int> unique(std::vector<int> values);

/// Sum of the squared norms of the blocks of a column that are there and below eps, without the diagonal one.
double squares_below(const BlockColumn& c, int column, double eps);

/// Smallest norm of the blocks of a column that is not below eps, without the diagonal one; 1e300 where there is none.
double least_kept(const BlockColumn& c, int column, double eps);

/// Truncated part of a column that eps ends: no function takes enough across its edge.
inline constexpr double ended_by_eps = 1e100;

/// True if a column may end too early. If more is truncated than one block of norm eps, eps determines the edge of its
/// submatrix, unless no block is close to eps from above: then eps is between blocks of two kinds.
inline bool may_end(double left_out, double least_kept, double eps) {
  return left_out <= eps * eps || least_kept >= 10.0 * eps;
}

/// True if it does: the function takes much more across the edge of the submatrix than eps leaves out (squares of
/// norms). Water: 105 times in the norm, chains of neighbours 1,000 to 100,000 times.
inline bool ends(double left_out, double across) { return across > 1e6 * left_out; }

/// The sum over rows r inside and o outside of a submatrix of |F_r|^2 |A_or|^2, with `norms` those of the blocks of F.
/// Blocks of A (`coupling`: its norms, one row for each block) below eps do not count. `inside`: zeros, one for each
/// block of the matrix.
double squares_across(const PrincipalIndex& index, const std::vector<double>& norms, const ColumnSet& coupling,
                      double eps, std::vector<char>& inside);

/// Norms of the blocks of own columns, as a matrix of one row for each block, so that ranks can fetch them.
BlockColumns norms_of(const BlockColumns& matrix, const std::shared_ptr<const BlockLayout>& blocks);
std::shared_ptr<const BlockLayout> layout_of_blocks(const BlockLayout& layout);

}  // namespace cambium::submatrix
