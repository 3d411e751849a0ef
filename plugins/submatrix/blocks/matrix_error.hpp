#pragma once
#include <cstdint>
#include <vector>

#include "plugins/submatrix/columns/block_exchange.hpp"
#include "plugins/submatrix/columns/principal.hpp"
#include "plugins/submatrix/matrices/matrix_system.hpp"

namespace cambium::submatrix {

/// A submatrix that was solved, with its wanted block columns of D and of W = H' D (one spin, orthogonal basis).
struct SolvedColumns {
  std::vector<int> columns;
  PrincipalIndex index;
  std::vector<double> density, weighted;  ///< dimension x width, row-major
  double excitation = 1.0;                ///< mean level above mu less mean level below, Hartree
  double size = 1.0;                      ///< root mean square of the levels, Hartree
};

/// Contribution of one submatrix to the error of E - mu N, Hartree, both spins.
struct MatrixError {
  double change = 0.0;  ///< first order: exact less what was computed
  double bound = 0.0;   ///< size of the second order
};

/// Collective: error of the orthogonalised Hamiltonian H' itself, because Z is not exactly S^-1/2 and products were
/// dropped. The pencil (Z H Z, Z S Z) has the exact levels whatever Z is; with Z H Z = H' + G and Z S Z = 1 + R its E -
/// mu N differs from that of H' by 2 Tr(D G) - 2 Tr(W R) to first order. G and R are computed with every product, but
/// only for the block columns of `solved`.
std::vector<MatrixError> matrix_errors(const MatrixSystem& system, const BlockColumns& root,
                                       const BlockColumns& orthogonal, const std::vector<SolvedColumns>& solved,
                                       const Comm& comm, std::int64_t& bytes, double& flops);

}  // namespace cambium::submatrix
