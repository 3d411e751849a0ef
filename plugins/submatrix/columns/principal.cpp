#include "plugins/submatrix/columns/principal.hpp"

#include <algorithm>

#include "core/numerics/panel.hpp"

namespace cambium::submatrix {

PrincipalIndex principal_index(const BlockColumns& matrix, int column, double eps) {
  return principal_index(matrix, matrix.layout(), column, eps);
}

PrincipalIndex principal_index(const BlockColumns& matrix, const BlockLayout& layout, int column, double eps) {
  PrincipalIndex out;
  out.column = column;
  const BlockColumn c = matrix.column(column);
  int n = 0;
  const auto add = [&](int row) {
    if (row == column) out.centre = n;
    out.blocks.push_back(row);
    out.start.push_back(n);
    n += layout.size(row);
  };
  // A column is in its own submatrix, also where its diagonal block is zero and was not stored.
  bool own = false;
  for (std::size_t e = 0; e < c.rows.size(); ++e) {
    if (!own && c.rows[e] >= column) {
      add(column);
      own = true;
    }
    if (c.norms[e] >= eps && c.rows[e] != column) add(c.rows[e]);
  }
  if (!own) add(column);
  out.start.push_back(n);
  out.width = layout.size(column);
  return out;
}

PrincipalIndex principal_index(const ColumnSet& columns, const BlockLayout& layout, std::span<const int> group,
                               double eps) {
  std::vector<int> rows;
  for (int column : group) {
    const BlockColumn c = columns(column);
    rows.push_back(column);
    for (std::size_t e = 0; e < c.rows.size(); ++e)
      if (c.norms[e] >= eps) rows.push_back(c.rows[e]);
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return principal_index(std::move(rows), layout, group);
}

PrincipalIndex principal_index(std::vector<int> rows, const BlockLayout& layout, std::span<const int> group) {
  // A single column stays where it is; those of a group must be neighbours in the submatrix.
  if (group.size() > 1)
    std::stable_partition(rows.begin(), rows.end(),
                          [&](int row) { return std::binary_search(group.begin(), group.end(), row); });
  PrincipalIndex out;
  out.column = group.front();
  int n = 0;
  for (int row : rows) {
    if (row == out.column) out.centre = n;
    out.blocks.push_back(row);
    out.start.push_back(n);
    n += layout.size(row);
  }
  out.start.push_back(n);
  for (int column : group) out.width += layout.size(column);
  return out;
}

std::vector<int> columns_needed(const BlockColumns& matrix, double eps) {
  std::vector<char> needed(matrix.layout().blocks(), 0);
  for (std::size_t k = 0; k < matrix.columns().size(); ++k) {
    const BlockColumn c = matrix.at(static_cast<int>(k));
    needed[matrix.columns()[k]] = 1;
    for (std::size_t e = 0; e < c.rows.size(); ++e)
      if (c.norms[e] >= eps) needed[c.rows[e]] = 1;
  }
  std::vector<int> out;
  for (std::size_t b = 0; b < needed.size(); ++b)
    if (needed[b]) out.push_back(static_cast<int>(b));
  return out;
}

std::vector<int> rows_of(const std::vector<int>& columns, const ColumnSet& set, int blocks) {
  std::vector<char> marked(blocks, 0);
  for (int column : columns)
    for (int row : set(column).rows) marked[row] = 1;
  std::vector<int> out;
  for (int b = 0; b < blocks; ++b)
    if (marked[b]) out.push_back(b);
  return out;
}

namespace {

/// Block (rows x columns, row-major) into `a` at (i, j) and its transpose at (j, i).
template <class T>
void place_block(const double* block, int rows, int columns, T* a, std::ptrdiff_t ld, int i, int j) {
  for (int r = 0; r < rows; ++r) {
    T* out = a + (i + r) * ld + j;
    for (int s = 0; s < columns; ++s) out[s] = static_cast<T>(block[r * columns + s]);
  }
  for (int s = 0; s < columns; ++s) {
    T* out = a + (j + s) * ld + i;
    for (int r = 0; r < rows; ++r) out[r] = static_cast<T>(block[r * columns + s]);
  }
}

/// A diagonal block, made symmetric: products with pruned terms leave it so only to their threshold.
template <class T>
void place_diagonal_block(const double* block, int size, T* a, std::ptrdiff_t ld, int i) {
  for (int r = 0; r < size; ++r)
    for (int s = 0; s < size; ++s)
      a[(i + r) * ld + i + s] = static_cast<T>(0.5 * (block[r * size + s] + block[s * size + r]));
}

}  // namespace

template <class T>
void Gathered<T>::gather(const PrincipalIndex& index, const ColumnSet& columns, double eps) {
  const int n = index.dimension();
  n_ = n;
  ld_ = padded<T>(n);
  T* a = buffer_.reserve(static_cast<std::size_t>(n) * static_cast<std::size_t>(ld_));
  std::fill_n(a, static_cast<std::size_t>(n) * static_cast<std::size_t>(ld_), T(0));
  for (std::size_t p = 0; p < index.blocks.size(); ++p) place_[index.blocks[p]] = static_cast<int>(p);
  for (std::size_t q = 0; q < index.blocks.size(); ++q) {
    const int column = index.blocks[q];
    const BlockColumn c = columns(column);
    for (std::size_t e = 0; e < c.rows.size() && c.rows[e] <= column; ++e) {
      const int p = place_[c.rows[e]];
      if (p < 0 || (c.norms[e] < eps && c.rows[e] != column)) continue;
      const auto at = static_cast<std::size_t>(p);
      if (at == q)
        place_diagonal_block(c.block(e), index.start[q + 1] - index.start[q], a, ld_, index.start[q]);
      else
        place_block(c.block(e), index.start[at + 1] - index.start[at], index.start[q + 1] - index.start[q], a, ld_,
                    index.start[at], index.start[q]);
    }
  }
  for (int block : index.blocks) place_[block] = -1;
}

template <class T>
void Gathered<T>::multiply(int width, const T* x, T* y) {
  panel_product(width, n_, n_, x, ld_, buffer_.data(), ld_, y, ld_);
}

template class Gathered<float>;
template class Gathered<double>;

}  // namespace cambium::submatrix
