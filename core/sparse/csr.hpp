#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace cambium::sparse {

/// One number of a sparse matrix.
struct Entry {
  std::int32_t row = 0, column = 0;
  double value = 0.0;
};

/// A sparse matrix by rows (compressed sparse rows): the columns and values of row i stand from start[i] to start[i +
/// 1], columns ascending, no column twice. T: double, float or Bf16.
template <class T>
struct Csr {
  std::int64_t rows = 0, columns = 0;
  std::vector<std::int64_t> start{0};  ///< rows + 1 offsets
  std::vector<std::int32_t> column;
  std::vector<T> value;

  std::int64_t entries() const { return start.back(); }
  std::span<const std::int32_t> columns_of(std::int64_t row) const {
    return {column.data() + start[at(row)], length(row)};
  }
  std::span<const T> values_of(std::int64_t row) const { return {value.data() + start[at(row)], length(row)}; }
  std::size_t length(std::int64_t row) const { return static_cast<std::size_t>(start[at(row) + 1] - start[at(row)]); }

 private:
  static std::size_t at(std::int64_t row) { return static_cast<std::size_t>(row); }
};

/// Result of csr_from_entries.
struct Gathered {
  Csr<double> matrix;
  std::int64_t duplicates = 0;  ///< entries that were added to an earlier one of the same row and column
};

/// Sorts entries into rows; duplicates are summed in input order. Throws InputError for a row or column outside rows x
/// columns and for a value that is not finite, naming the entry's index (from 0).
Gathered csr_from_entries(std::int64_t rows, std::int64_t columns, std::span<const Entry> entries);

/// The transpose: rows ascending within each column become columns ascending within each row.
template <class T>
Csr<T> transposed(const Csr<T>& a);

/// P A P^T for a square matrix: new row k is old row order[k]. `order` holds every row once.
template <class T>
Csr<T> permuted(const Csr<T>& a, std::span<const std::int32_t> order);

/// The same matrix with values of another type, rounded to nearest.
template <class To, class From>
Csr<To> converted(const Csr<From>& a);

}  // namespace cambium::sparse
