#pragma once
#include <cstdint>

#include "plugins/submatrix/columns/block_exchange.hpp"

namespace cambium::submatrix {

struct ProductOptions {
  double prune = 0.0;  ///< a product of two blocks is left out when the product of their norms is below this
  double keep = 0.0;   ///< blocks of the result with a smaller norm are dropped (diagonal blocks never)
};

/// Collective: A B of symmetric block-sparse matrices that commute, own columns. One block of each pair of mirror
/// images is computed and sent to the owner of the other, so the result is symmetric. Adds received bytes and
/// floating-point operations.
BlockColumns symmetric_product(const BlockColumns& a, const BlockColumns& b, const ColumnRanges& ranges,
                               const Comm& comm, const ProductOptions& options, std::int64_t& bytes, double& flops);

/// of 1 + x X + y Y, own columns; the pattern is that of both.
BlockColumns combination(double of_one, double x, const BlockColumns& a, double y, const BlockColumns& b);

/// Collective: the trace.
double trace(const BlockColumns& matrix, const Comm& comm);
/// Collective: Tr(A B) of symmetric matrices.
double trace_of_product(const BlockColumns& a, const BlockColumns& b, const Comm& comm);

}  // namespace cambium::submatrix
