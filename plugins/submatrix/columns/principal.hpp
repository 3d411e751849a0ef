#pragma once
#include <span>
#include <vector>

#include "core/numerics/aligned_buffer.hpp"
#include "plugins/submatrix/columns/block_exchange.hpp"

namespace cambium::submatrix {

/// The rows of one submatrix: every block row with a block of norm >= eps in a wanted block column.
struct PrincipalIndex {
  int column = 0;             ///< the wanted block column, of several the first
  std::vector<int> blocks;    ///< block rows: those of several wanted columns first, then the others, each ascending
  std::vector<int> start;     ///< first row of each inside the submatrix, and the number of rows
  int centre = 0, width = 0;  ///< first row and number of rows of the wanted block columns inside the submatrix

  int dimension() const { return start.back(); }
};

/// Index of block column `column`, whose blocks are in `matrix`.
PrincipalIndex principal_index(const BlockColumns& matrix, int column, double eps);
/// The same where `matrix` holds only norms, one row for each block of `layout`.
PrincipalIndex principal_index(const BlockColumns& matrix, const BlockLayout& layout, int column, double eps);
/// Index of a group of block columns (ascending), all in `columns`: the union of their rows.
PrincipalIndex principal_index(const ColumnSet& columns, const BlockLayout& layout, std::span<const int> group,
                               double eps);

/// Index of a group of block columns (ascending) whose submatrix has these rows (ascending, those of the group among
/// them).
PrincipalIndex principal_index(std::vector<int> rows, const BlockLayout& layout, std::span<const int> group);

/// The union of the block rows of some indices, ascending: the columns that their submatrices need.
std::vector<int> columns_needed(const BlockColumns& matrix, double eps);

/// The rows of the columns `columns` of `set`, ascending.
std::vector<int> rows_of(const std::vector<int>& columns, const ColumnSet& set, int blocks);

/// Interface of a principal submatrix for solvers. T is float or double.
template <class T>
class Submatrix {
 public:
  virtual ~Submatrix() = default;
  /// Takes the blocks of norm >= eps of `index` from `columns`.
  virtual void gather(const PrincipalIndex& index, const ColumnSet& columns, double eps) = 0;
  /// Dense, n x n with rows of ld() entries, padded with zeros; may be overwritten.
  virtual T* a() = 0;
  virtual int ld() const = 0;
  /// Y = X A for `width` rows of ld() entries; the padding of Y becomes zero. Not after a() was overwritten.
  virtual void multiply(int width, const T* x, T* y) = 0;
  virtual double multiply_flops() const = 0;  ///< for one row
};

/// The dense principal submatrix, exactly symmetric: of each pair of blocks the one above the diagonal is taken, blocks
/// of norm < eps are zero. T is float or double.
template <class T>
class Gathered : public Submatrix<T> {
 public:
  explicit Gathered(int blocks) : place_(static_cast<std::size_t>(blocks), -1) {}

  /// Fills a(); rows are zero-padded to full registers.
  void gather(const PrincipalIndex& index, const ColumnSet& columns, double eps) override;
  T* a() override { return buffer_.data(); }
  int ld() const override { return ld_; }
  void multiply(int width, const T* x, T* y) override;
  double multiply_flops() const override { return 2.0 * n_ * n_; }

 private:
  std::vector<int> place_;  ///< index of a block in the submatrix, -1 if it is outside
  AlignedBuffer<T> buffer_;
  int n_ = 0, ld_ = 0;
};

}  // namespace cambium::submatrix
