#pragma once
#include <memory>
#include <optional>

#include "plugins/submatrix/columns/column_solver.hpp"

namespace cambium::submatrix {

/// Blocks of the matrices whose submatrices are taken; in the local form also of the overlap.
struct Problem {
  ColumnSet hamiltonian;
  std::optional<ColumnSet> overlap;
};

/// Solvers whose own error does not matter: diagonalisation up to a size, beyond it a Krylov space with a small
/// tolerance.
struct ExactSolvers {
  std::unique_ptr<ColumnSolver> small, large;
  int small_until = 0;
  ColumnSolver& of(const PrincipalIndex& index) const {
    return large && index.dimension() > small_until ? *large : *small;
  }
};

}  // namespace cambium::submatrix
