#pragma once
#include <string>
#include <vector>

#include "plugins/superres/evaluate/flow_statistics.hpp"

namespace cambium::superres {

/// Error of a prediction over time.
struct Score {
  double nmae = 0.0;  ///< mean over frames of |prediction - truth|, over the mean of |truth|
  double r2 = 0.0;    ///< 1 - sum (prediction - truth)^2 / sum (truth - its mean)^2
};
Score score_of(const std::vector<double>& truth, const std::vector<double>& prediction);

/// Evaluation of a reconstruction by the physics it should preserve.
struct Scores {
  std::vector<double> relative_l2;  ///< per field: |prediction - truth| / |truth|, sums over all points and frames
  std::array<Score, 9> statistics;
  double mean_r2 = 0.0;                            ///< of the nine
  double nusselt = 0.0, true_nusselt = 0.0;        ///< 1 + sqrt(Ra Pr) <w b> or <u b>, means over frames
  double divergence = 0.0, true_divergence = 0.0;  ///< relative, means over frames
  std::vector<double> residual;  ///< of each equation: root mean square, by differences on the fine grid
  double spectrum = 0.0;         ///< root mean square of log10 of the ratio of mean spectra, over all modes
  double seconds = 0.0;          ///< that the reconstruction took
  HeatPath heat;                 ///< of the truth: path of the flux in the Nusselt numbers
};
/// Without residuals and seconds.
Scores scores_of(const FieldData& truth, const FieldData& prediction, double viscosity, double peclet,
                 const std::array<int, 3>& fields);

}  // namespace cambium::superres
