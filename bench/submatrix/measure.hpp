#pragma once
#include <map>
#include <string>

#include "plugins/submatrix/density/density_matrix.hpp"

namespace cambium::submatrix {

/// One complete step, S and H to D, E, N and mu: its time and its errors against the exact band energy in the file.
struct Measured {
  double seconds = 1e300, column_seconds = 0.0;              ///< complete step; rank 0's time in the submatrices
  double error_mev = 0.0, grand_mev = 0.0, electrons = 0.0;  ///< E and E - mu N in meV/atom, N
  double dimension = 0.0, steps = 0.0, residual = 0.0;
  double gflops = 0.0, column_gflops = 0.0;  ///< of all ranks together, per second of the step or of its submatrices
  double megabytes = 0.0;                    ///< received, all ranks
  double own_megabytes = 0.0;                ///< H, S and D of the fullest rank
  std::map<std::string, double> phases;      ///< seconds of the slowest rank
};

/// Collective: the fastest of `repeat` runs.
Measured measure(const MatrixSystem& system, const DensityOptions& options, int repeat, Context& context);

/// Options of the measurement: canonical, S^-1/2 with the same eps, Lanczos in float32.
DensityOptions bench_options(const MatrixSystem& system, double eps, SolverKind solver);

/// copies^3 cells of a lattice-resolved file with its reference.
MatrixSystem load_water(const std::string& file, int copies, const Comm& comm);

}  // namespace cambium::submatrix
