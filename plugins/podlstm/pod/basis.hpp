#pragma once
#include <cstdint>
#include <vector>

#include "core/parallel/context.hpp"
#include "plugins/podlstm/pod/dense.hpp"
#include "plugins/podlstm/pod/field.hpp"

namespace cambium::podlstm {

enum class PodMethod { snapshots, randomized };

struct BasisOptions {
  std::int64_t modes = 5;
  PodMethod method = PodMethod::snapshots;
  std::int64_t oversampling = 10;  ///< additional columns of the randomized subspace
  int most_passes = 40;            ///< over the data, for the randomized method
  double tolerance = 1e-11;        ///< residual of every requested eigenpair relative to its eigenvalue
};

/// Modes of a field: q(x, t) = mean(x) + sum_k a_k(t) psi_k(x) + rest, with sum_x w psi_j psi_k = delta_jk and a_k =
/// sum_x w psi_k (q - mean). Mean and modes come from the training snapshots (Sirovich 1987, method of snapshots).
struct Basis {
  // the same on every rank
  std::vector<double> energy;   ///< sum over training snapshots of a_k^2, descending
  double total_energy = 0.0;    ///< of all training fluctuations
  Matrix coefficients;          ///< (snapshots, modes), those after training projected
  std::vector<double> squared;  ///< sum_x w (q - mean)^2 of every snapshot
  double weight = 0.0;          ///< sum of w over the unmasked cells
  std::int64_t cells = 0;       ///< not masked
  double orthonormality = 0.0;  ///< largest |psi_j w psi_k - delta_jk|
  double residual = 0.0;        ///< of the randomized method's eigenpairs, relative
  bool converged = true;
  // of this rank's cells
  std::vector<std::int64_t> index;  ///< flattened
  std::vector<double> mean, rest;   ///< rest: mean square truncation error over training snapshots
  std::vector<double> norm, trend;  ///< of the anomalies, as in CellBlock; may be empty
  Matrix year;                      ///< (2 harmonics, cells)
  Matrix modes;                     ///< (modes, cells)
  /// Root of the weighted mean square truncation error of snapshots [first, last).
  double truncation(std::int64_t first, std::int64_t last) const;
  /// Relative standard error of each mode's energy by the rule of thumb, sqrt(2 / N) (G. R. North et al., Mon. Weather
  /// Rev. 110, 699 (1982), doi 10.1175/1520-0493(1982)110<0699:SEITEO>2.0.CO;2), where N is the effective number of
  /// independent training snapshots: N (1 - r^2) / (1 + r^2), r the lag-one autocorrelation of the coefficient (C. S.
  /// Bretherton et al., J. Climate 12, 1990 (1999)). Modes whose energies differ by less than their errors mix.
  std::vector<double> sampling_errors(std::int64_t training) const;
};

/// InputError if a field has fewer training snapshots than the requested number of modes.
void require_snapshots(std::int64_t modes, const Field& field);

/// Collective. InputError: fewer training snapshots than modes, or modes without energy.
Basis compute_basis(Field& field, const BasisOptions& options, Context& context);

}  // namespace cambium::podlstm
