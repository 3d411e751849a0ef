#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace cambium {

/// Byte matrix laid out for products of its rows with one vector after the other: in blocks of 16 rows, four columns of
/// each row are adjacent to the same four of the next, so a register holds 16 sums and no horizontal sums are needed.
class ByteRows {
 public:
  static constexpr std::int64_t block_rows = 16;
  ByteRows() = default;
  /// All rows are 0. `columns`: at most 65536, so that sums of products fit 32 bits.
  ByteRows(std::int64_t rows, std::int64_t columns);
  /// Takes values back that lay in another object's values().
  ByteRows(std::int64_t rows, std::int64_t columns, std::span<const std::uint8_t> values);

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  /// Length of the vectors for dots(): `columns` rounded up to a multiple of 4; padding is 0.
  std::int64_t padded_columns() const { return groups_ * group_columns; }
  /// One row; each value from -127 to 127.
  void set_row(std::int64_t row, std::span<const std::int8_t> values);

  /// out[r] = sum over columns of row (first + r) times `by`, for the rows [first, last); `first` is a multiple of
  /// block_rows. `by`: padded_columns() values. Writes full blocks: `out` has room for last - first rounded up to one.
  void dots(std::int64_t first, std::int64_t last, const std::int8_t* by, std::int32_t* out) const;

  /// Stored values: plus 128, as required by the instruction that multiplies unsigned by signed bytes.
  std::span<const std::uint8_t> values() const { return values_; }

 private:
  static constexpr std::int64_t group_columns = 4;
  std::int64_t rows_ = 0, columns_ = 0, groups_ = 0;
  std::vector<std::uint8_t> values_;  ///< [block][group of columns][row][column]
};

}  // namespace cambium
