#pragma once
#include <vector>

#include "core/numerics/aligned_buffer.hpp"
#include "core/numerics/block_exchange.hpp"

namespace cambium::submatrix {

/// The rows of one submatrix: every block row with a block of norm >= eps in the wanted block column.
struct PrincipalIndex {
  int column = 0;             ///< the wanted block column
  std::vector<int> blocks;    ///< block rows, ascending
  std::vector<int> start;     ///< first row of each inside the submatrix, and the number of rows
  int centre = 0, width = 0;  ///< first row and number of rows of the wanted block column inside the submatrix

  int dimension() const { return start.back(); }
};

/// Index of block column `column`, whose blocks are in `matrix`.
PrincipalIndex principal_index(const BlockColumns& matrix, int column, double eps);

/// The union of the block rows of some indices, ascending: the columns that their submatrices need.
std::vector<int> columns_needed(const BlockColumns& matrix, double eps);

/// The rows of the columns `columns` of `set`, ascending.
std::vector<int> rows_of(const std::vector<int>& columns, const ColumnSet& set, int blocks);

/// The dense principal submatrix, exactly symmetric: of each pair of blocks the one above the diagonal is taken, blocks of
/// norm < eps are zero. T is float or double.
template <class T>
class Gathered {
 public:
  explicit Gathered(int blocks) : place_(static_cast<std::size_t>(blocks), -1) {}

  /// Fills a(); rows are padded with zeros to whole registers.
  void gather(const PrincipalIndex& index, const ColumnSet& columns, double eps);
  T* a() { return buffer_.data(); }
  int ld() const { return ld_; }

 private:
  std::vector<int> place_;  ///< of a block among those of the submatrix, -1 elsewhere
  AlignedBuffer<T> buffer_;
  int ld_ = 0;
};

}  // namespace cambium::submatrix
