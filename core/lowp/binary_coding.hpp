#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace cambium::lowp {

/// A matrix W (rows, columns) of weights as sum over b of scale[b][row] * S_b with S_b of -1 and +1: binary coding,
/// `bits` bits per weight. Signs are stored in blocks of 16 rows and 32 columns: word r of block (i, j) holds row 16 i
/// + r, nibble s of it the columns 32 j + 4 s to 4 s + 3, a set bit for +1; bit planes one after the other. Rows and
/// columns are padded.
struct BinaryCodedMatrix {
  static constexpr int block_rows = 16, block_columns = 32;
  std::int64_t rows = 0, columns = 0;
  int bits = 0;
  std::vector<std::uint32_t> signs;  ///< [plane][block of rows][block of columns][16]
  std::vector<float> scales;         ///< [plane][row, padded to 16]

  std::int64_t row_blocks() const { return (rows + block_rows - 1) / block_rows; }
  std::int64_t column_blocks() const { return (columns + block_columns - 1) / block_columns; }
  std::int64_t bytes() const { return static_cast<std::int64_t>(4 * (signs.size() + scales.size())); }
  bool positive(int plane, std::int64_t row, std::int64_t column) const {
    return (signs[word(plane, row, column)] >> (column % block_columns) & 1) != 0;
  }
  void set(int plane, std::int64_t row, std::int64_t column, bool positive) {
    const std::uint32_t bit = 1u << (column % block_columns);
    auto& to = signs[word(plane, row, column)];
    to = positive ? to | bit : to & ~bit;
  }
  float scale(int plane, std::int64_t row) const { return scales[plane * row_blocks() * block_rows + row]; }
  /// The decoded matrix, row-major.
  std::vector<float> dense() const;

 private:
  std::size_t word(int plane, std::int64_t row, std::int64_t column) const {
    const auto block = (plane * row_blocks() + row / block_rows) * column_blocks() + column / block_columns;
    return static_cast<std::size_t>(block * block_rows + row % block_rows);
  }
};

/// Binary coding with the least squared error that greedy signs and alternating refinement find, row by row (Xu et al.,
/// ICLR 2018, eqs. 4 to 8): scales by least squares for given signs, then signs as the nearest sum of scales. 1 to 4
/// bits; `rounds` 0 stops after the greedy start.
BinaryCodedMatrix binary_coded(std::span<const float> weights, std::int64_t rows, std::int64_t columns, int bits,
                               int rounds = 15);

/// Weights -s, 0, s with s the mean magnitude over the matrix, rounded to the nearest (BitNet b1.58, Ma et al. 2024,
/// eqs. 1 to 3), as two bit planes of scale s/2: (+ +) is s, (+ -) is 0, (- -) is -s.
BinaryCodedMatrix ternary_coded(std::span<const float> weights, std::int64_t rows, std::int64_t columns);

/// Rows of a matrix in host memory: row k begins at data + k * stride.
template <class T>
struct RowsOf {
  T* data;
  std::int64_t stride;
};

/// y[k] = W x[k] for k = 0..batch-1, or y[k] += W x[k] when `add`. x: (batch, columns), y: (batch, rows). Sums of four
/// inputs with all sixteen sign patterns stand in a table that fits one register, and four weights select one entry
/// (the scheme of BiQGEMM, Jeon et al., SC20, with short tables); no multiplication by a weight.
void multiply(const BinaryCodedMatrix& w, RowsOf<const float> x, std::int64_t batch, bool add, RowsOf<float> y);
/// The same for rows without gaps.
void multiply(const BinaryCodedMatrix& w, const float* x, std::int64_t batch, float* y);

/// The signs of all bit planes read by columns, side by side: (columns, bits * rows padded to 32), one bit, scales 1.
BinaryCodedMatrix transposed_planes(const BinaryCodedMatrix& w);

/// x[k] = W^T y[k] for k = 0..batch-1, or += when `add`, by `planes` of transposed_planes(w): the same matrix as
/// multiply(), so it gives the exact derivative of multiply(). y: (batch, rows), x: (batch, columns).
void multiply_transposed(const BinaryCodedMatrix& w, const BinaryCodedMatrix& planes, RowsOf<const float> y,
                         std::int64_t batch, bool add, RowsOf<float> x);

}  // namespace cambium::lowp
