#pragma once
#include <cstdint>

#include "plugins/submatrix/columns/block_exchange.hpp"

namespace cambium::submatrix {

/// Collective: half the sum of a matrix and its transpose, on the pattern of the matrix. A block whose mirror image is
/// missing (a norm right at the threshold) stays as it is. Adds the bytes received to `bytes`.
BlockColumns symmetrised(const BlockColumns& matrix, const ColumnRanges& ranges, const Comm& comm, std::int64_t& bytes);

}  // namespace cambium::submatrix
