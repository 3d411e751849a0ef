#pragma once
#include <cstdint>
#include <span>

#include "core/sparse/csr.hpp"

namespace cambium::sparse {

/// Item-item cosines (Sarwar et al., WWW 2001) of a matrix R of users x items, by its entries; their values are
/// ignored.
class ColumnCosines {
 public:
  explicit ColumnCosines(Csr<float> matrix);
  /// Scores of every column for one row, R C with the cosines C of columns: out_i is the sum over the row's columns j
  /// of n_ij / sqrt(n_i n_j), n_i the entries of column i, n_ij the rows with entries in both, n_ii = n_i. `out`: one
  /// value for each column.
  void scores(std::int64_t row, std::span<double> out) const;

 private:
  Csr<float> matrix_, back_;
  std::vector<double> scale_;  ///< n_i^-1/2, 1 for columns without entries
};

}  // namespace cambium::sparse
