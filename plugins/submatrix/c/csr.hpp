#pragma once
#include "plugins/submatrix/c/cambium_submatrix.h"
#include "plugins/submatrix/matrices/matrix_system.hpp"

namespace cambium::submatrix {

/// Block layout of a caller's matrix: sizes of all blocks, and the rows of each rank. Collective; InputError, the same
/// on every rank, when sizes or ranges are inconsistent.
struct CallerBlocks {
  CallerBlocks(const cambium_blocks& blocks, const Comm& comm);
  std::shared_ptr<const BlockLayout> layout;
  ColumnRanges ranges;
  std::vector<int> block_of;  ///< of every row of the matrix
};

/// Block columns from a caller's rows (the matrix is symmetric). Collective; InputError with row and column when an
/// element is not finite, out of range, or differs from its mirror image by more than 1e-8.
BlockColumns from_csr(const std::string& what, const cambium_csr& csr, const CallerBlocks& blocks, const Comm& comm);

/// Values of a matrix at the positions of the caller's elements; zero where it has no block.
void to_csr(const BlockColumns& matrix, const cambium_csr& places, const CallerBlocks& blocks, const Comm& comm,
            double* out);

}  // namespace cambium::submatrix
