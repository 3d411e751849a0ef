#pragma once
#include "core/plugin/bench.hpp"

namespace cambium::submatrix {

/// `cambium bench submatrix_scaling`: seconds and memory per molecule from 864 to 6,912 molecules, and the same step on
/// rank 0 only.
Bench bench_scaling();

/// `cambium bench submatrix_precision`: every solver in every precision on the same submatrices of 256 molecules at eps
/// 1e-5, with its difference from diagonalisation and its speed as a fraction of that of a matrix product in that
/// precision.
Bench bench_precision();

/// The folder of the water matrices: data=FOLDER, or submatrix in CAMBIUM_DATA. InputError without.
std::string water_folder(const BenchOptions& options);

/// A barrier in which waiting ranks yield their cores.
void sleeping_barrier(const Comm& comm);

}  // namespace cambium::submatrix
