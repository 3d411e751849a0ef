#pragma once
#include <string>
#include <vector>

#include "core/parallel/comm.hpp"

namespace cambium::submatrix {

/// Timings of CP2K's own sign step on the same molecules.
struct Cp2kTimes {
  bool ran = false;
  double sign_seconds = 0.0;     ///< matrix_sign_submatrix or matrix_sign_Newton_Schulz, slowest rank
  double density_seconds = 0.0;  ///< density_matrix_sign: S^-1, products and sign
  double energy = 0.0;           ///< total energy of the first step, hartree
  std::string version;
};

/// One cell of molecules, angstrom.
struct Cp2kCell {
  std::vector<int> number;        ///< 1 or 8
  std::vector<double> positions;  ///< 3 per atom
  double edge[3] = {};
};

/// Collective: the first density matrix of an LS_SCF of `copies`^3 cells with the program `cp2k` on as many ranks,
/// eps_filter `eps`, by its submatrix method (full diagonalisation) or Newton-Schulz. Run by rank 0 in `folder`, the
/// others sleep.
Cp2kTimes run_cp2k(const Cp2kCell& cell, int copies, double eps, bool submatrix, const std::string& folder,
                   const Comm& comm);

}  // namespace cambium::submatrix
