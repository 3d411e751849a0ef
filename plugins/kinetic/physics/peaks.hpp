#pragma once
#include <vector>

namespace cambium::kinetic {

/// A maximum of an energy that oscillates.
struct Peak {
  double time, height;  ///< height: log of the energy
  int number = 0;       ///< of half periods since the first one
};

struct WavePeaks {
  std::vector<Peak> peaks;
  double spacing = 0.0;  ///< half period of the strongest oscillation; 0 where there are fewer than three maxima
  double other = 0.0;    ///< amplitude of the strongest oscillation of another frequency, over that of the strongest
};

/// One peak for each half period of the strongest oscillation of `energy` (positive) at ascending times, whose
/// amplitude grows or falls about exponentially; every maximum, where the energy falls to almost nothing between them.
/// If a faster oscillation is superimposed, a peak is that of a parabola through all samples within a quarter of the
/// half period.
WavePeaks peaks_of_wave(const std::vector<double>& time, const std::vector<double>& energy);

/// Straight line through points by least squares.
struct Line {
  double slope = 0.0, error = 0.0;  ///< error: standard error of the slope; 0 for two points
  double residual = 0.0;            ///< root mean square distance of the points
  double explained = 0.0;           ///< R^2
};
/// `correlated`: neighbouring points are, as samples of a curve, and the error is that of as many independent ones as
/// the residuals' correlation from point to point leaves.
Line line_through(const std::vector<double>& x, const std::vector<double>& y, bool correlated);

}  // namespace cambium::kinetic
