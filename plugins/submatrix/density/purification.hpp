#pragma once
#include "plugins/submatrix/submatrices/density_options.hpp"

namespace cambium::submatrix {

/// Collective. D by purification instead of submatrices: X0 = a - b H' has all levels in [0, 1] and polynomials of X
/// move occupied ones to 1 and empty ones to 0 (`options.purification`); every iterate is a block-sparse matrix. It
/// ends where truncation keeps the error of idempotency from falling quadratically (A. Kruchinina, E. Rudberg and E. H.
/// Rubensson, J. Chem. Theory Comput. 12, 5788 (2016)). S^-1/2 and D in the basis of the input are those of
/// density_matrix(). The gap of the result is a lower bound, E. H. Rubensson and A. M. N. Niklasson, SIAM J. Sci.
/// Comput. 36, B147 (2014); mu is where the polynomials give 1/2. Sections of context.timing: "overlap", "transform",
/// "purification", "density".
DensityResult purified_density(const MatrixSystem& system, const DensityOptions& options, Context& context);

}  // namespace cambium::submatrix
