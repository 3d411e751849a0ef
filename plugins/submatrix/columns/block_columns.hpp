#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace cambium::submatrix {

/// The blocks (atoms, molecules) into which the rows and columns of a square matrix are cut.
class BlockLayout {
 public:
  explicit BlockLayout(std::vector<int> sizes);

  int blocks() const { return static_cast<int>(size_.size()); }
  int size(int block) const { return size_[block]; }
  std::int64_t offset(int block) const { return offset_[block]; }  ///< of its first row
  std::int64_t dimension() const { return offset_.back(); }
  int largest() const { return largest_; }

 private:
  std::vector<int> size_;
  std::vector<std::int64_t> offset_;
  int largest_ = 0;
};

/// Contiguous ranges of block columns owned by the ranks of a communicator.
struct ColumnRanges {
  std::vector<int> first{0};  ///< ranks + 1 entries, ascending

  int begin(int rank) const { return first[rank]; }
  int end(int rank) const { return first[static_cast<std::size_t>(rank) + 1]; }
  int owner(int column) const;
  /// Ranges whose costs are as equal as contiguous ranges allow: rank r begins where the running sum passes r / ranks.
  static ColumnRanges balanced(std::span<const double> cost, int ranks);
};

/// One block column as stored: `rows[e]` is the block row of entry e, whose values start at `values + offset[e]`,
/// row-major, size(row) x size(column).
struct BlockColumn {
  std::span<const int> rows;
  const std::int64_t* offset = nullptr;
  const double* values = nullptr;
  const double* norms = nullptr;  ///< Frobenius norm of each block

  const double* block(std::size_t entry) const { return values + offset[entry]; }
};

/// Some block columns of a block-sparse matrix, in ascending order of the column, rows ascending in each.
class BlockColumns {
 public:
  explicit BlockColumns(std::shared_ptr<const BlockLayout> layout) : layout_(std::move(layout)) {}

  /// Columns as they are sent: `index` holds for each its number, how many blocks it has and their rows; `values` the
  /// blocks one after the other.
  static BlockColumns from_parts(std::shared_ptr<const BlockLayout> layout, std::span<const int> index,
                                 std::vector<double> values);

  /// Columns are added in ascending order, and in each its rows in ascending order. The address is valid until the next
  /// block is added; the block is zero.
  void start_column(int column);
  double* add_block(int row);
  void add_block(int row, const double* values);
  /// Memory for as much as another matrix holds.
  void reserve(const BlockColumns& like);
  /// Computes the norms; to be called after the last block was filled.
  void finish();

  const BlockLayout& layout() const { return *layout_; }
  const std::shared_ptr<const BlockLayout>& shared_layout() const { return layout_; }
  std::span<const int> columns() const { return columns_; }
  std::int64_t blocks() const { return static_cast<std::int64_t>(row_.size()); }
  std::int64_t bytes() const;

  /// Position of a column among columns(), or -1.
  int find(int column) const;
  BlockColumn at(int position) const;
  BlockColumn column(int column) const { return at(find(column)); }
  /// Values of one block, or null.
  const double* block(int row, int column) const;

 private:
  std::shared_ptr<const BlockLayout> layout_;
  std::vector<int> columns_;
  std::vector<std::int64_t> begin_{0};
  std::vector<int> row_;
  std::vector<std::int64_t> offset_;
  std::vector<double> value_, norm_;
};

/// The blocks of `matrix` with norm >= threshold. Diagonal blocks are always there, zero where `matrix` has none.
BlockColumns filtered(const BlockColumns& matrix, double threshold);

}  // namespace cambium::submatrix
