#pragma once
#include "plugins/submatrix/datasets/moments.hpp"
#include "plugins/submatrix/matrices/matrix_system.hpp"

namespace cambium::submatrix {

/// Training sample of a level model: one Hamiltonian. Hartree.
struct LevelSample {
  int columns = 0, functions = 0;  ///< block columns, and functions of each
  double homo = 0.0, lumo = 0.0;
  std::vector<double> moments;  ///< columns x count
  std::vector<double>
      energy;  ///< of each block column: 2 sum over occupied states of its weight times the state's energy
};

/// All states of a Hamiltonian made orthogonal, S^-1/2 H S^-1/2, from one diagonalisation.
class DenseLevels {
 public:
  /// For a system that is entirely on this rank. InputError: more than 16384 functions, an odd number of electrons or
  /// none, blocks of unequal size, an overlap that is not positive definite, two spin channels.
  explicit DenseLevels(const MatrixSystem& system);

  int functions() const { return functions_; }
  double lowest() const { return value_.front(); }
  double highest() const { return value_.back(); }
  LevelSample sample(const Window& window, int count) const;

 private:
  int columns_, functions_, pairs_;
  std::vector<double> value_, vector_;  ///< row j of `vector_` is eigenvector j
};

}  // namespace cambium::submatrix
