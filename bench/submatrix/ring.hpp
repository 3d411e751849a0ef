#pragma once
#include "core/plugin/bench.hpp"

namespace cambium::submatrix {

/// `cambium bench submatrix_ring`: seconds, operations, memory of a rank and true error of the density matrix of a ring
/// with exactly known levels, by submatrices or by purification.
Bench bench_ring();

}  // namespace cambium::submatrix
