#pragma once
#include <cstdint>
#include <vector>

#include "core/sparse/csr.hpp"

namespace cambium::graph {

/// Leading singular triplets of a matrix of links, values descending; vectors as columns, row-major.
struct Spectrum {
  std::int64_t count = 0;
  std::vector<double> values;  ///< count
  std::vector<double> left;    ///< rows x count
  std::vector<double> right;   ///< columns x count
};

/// The `count` largest singular values of `matrix` and their vectors by randomised subspace iteration (Halko,
/// Martinsson and Tropp, SIAM Rev. 53, 217 (2011)) with 20 additional columns and `steps` products with N^T N, each
/// followed by orthonormalisation. At most as many as the shorter side; a function of matrix, count, steps and seed. In
/// each right vector the entry of largest magnitude is positive.
Spectrum leading_spectrum(const sparse::Csr<double>& matrix, std::int64_t count, int steps, std::uint64_t seed);

}  // namespace cambium::graph
