#pragma once
#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/parallel/comm.hpp"
#include "plugins/submatrix/columns/block_columns.hpp"

namespace cambium::submatrix {

/// Grouping of block columns into submatrices: none (each has its own), neighbours in space, those with the most
/// similar patterns (graph), or whichever of these the cost model predicts to be cheapest.
enum class GroupBy { none, space, graph, automatic };

struct GroupOptions {
  GroupBy by = GroupBy::none;
  int size = 0;  ///< most columns in a group; 0: the cost model decides
};

/// Predicted cost of the submatrix of `dimension` rows, of which `width` are wanted. Only ratios matter.
using SubmatrixCost = std::function<double(double dimension, double width)>;

/// Block rows of every block column, ascending, its own among them.
using BlockPattern = std::vector<std::vector<int>>;

/// Positions of the blocks (angstrom); empty where the source does not know them.
using BlockCentres = std::vector<std::array<double, 3>>;

/// A partition of the block columns; the submatrix of a group has the rows of all its columns, so that it is never
/// smaller than those of its columns alone.
struct Grouping {
  std::vector<std::vector<int>> groups;  ///< ascending columns in each; groups in ascending order of their mean column
  std::vector<double> cost;              ///< predicted, of each
  double ratio = 1.0;                    ///< predicted cost over that of single columns
  std::string by = "none";               ///< method that was chosen: none, space or graph
};

/// Collective: blocks of norm >= eps, of all columns on every rank (4 bytes for each).
BlockPattern gathered_pattern(const BlockColumns& matrix, double eps, const Comm& comm);

/// Groups by the model of `cost`, the same on every rank. InputError when positions are needed and unknown.
///   graph: pairs of groups whose union saves the largest fraction of their cost merge first, as long as something is
///   saved or, with a size, as long as the union is no larger;
///   space: recursive bisection of the longest extent into groups of about equally many columns; without a size the
///     cheapest of several.
Grouping choose_groups(const BlockPattern& pattern, const BlockLayout& layout, const BlockCentres& centres,
                       const GroupOptions& options, const SubmatrixCost& cost);

/// Greedy agglomeration, the `graph` of choose_groups(). Columns of each group, unsorted order of groups.
std::vector<std::vector<int>> merged_groups(const BlockPattern& pattern, const BlockLayout& layout, int size,
                                            const SubmatrixCost& cost);
/// Recursive coordinate bisection into groups of at most `size` columns.
std::vector<std::vector<int>> bisected_groups(const BlockCentres& centres, int size);

}  // namespace cambium::submatrix
