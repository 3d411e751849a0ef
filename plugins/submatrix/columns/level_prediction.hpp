#pragma once
#include <vector>

#include "core/parallel/comm.hpp"
#include "plugins/submatrix/columns/column_solver.hpp"

namespace cambium::submatrix {

/// Expectation of a model for a Hamiltonian before it is solved (hartree).
struct LevelPrediction {
  double homo = 0.0, lumo = 0.0;
  std::vector<double> energy;  ///< band energies of own block columns, two electrons in each state
};

/// Predicts levels from a few Krylov blocks of every block column.
class LevelPredictor {
 public:
  virtual ~LevelPredictor() = default;
  virtual int krylov_blocks() const = 0;
  /// Collective. `local`: the quadratures of own block columns, which have `functions` functions each. InputError when
  /// the model was trained on blocks of another size.
  virtual LevelPrediction predict(const std::vector<Spectrum>& local, int functions, const Comm& comm) const = 0;
  /// A band energy is suspect when it is further than this from its prediction (hartree).
  virtual double tolerance() const = 0;
};

/// Outcome of a prediction.
struct PredictionReport {
  struct Column {
    int column;
    double energy, predicted;  ///< hartree
  };
  double homo = 0.0, lumo = 0.0;
  int evaluations = 0;                              ///< of N(mu) until mu was found
  int evaluations_without = 0;                      ///< of a search in the same spectra that knows nothing
  double energy_difference = 0.0, tolerance = 0.0;  ///< root mean square over the block columns; hartree
  std::vector<Column> suspects;                     ///< of all ranks, by column
};

}  // namespace cambium::submatrix
