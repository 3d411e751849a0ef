#pragma once
#include <vector>

#include "plugins/submatrix/columns/block_columns.hpp"

namespace cambium::submatrix {

/// The rows of the own columns of a matrix, ascending, with the norm of their largest block.
struct OwnRows {
  std::vector<int> row;
  std::vector<double> norm;
};
OwnRows own_rows(const BlockColumns& matrix);

}  // namespace cambium::submatrix
