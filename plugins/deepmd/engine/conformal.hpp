#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace cambium::deepmd {

/// Atoms of one held-out frame: deviation of a committee's forces, and error of the force of the model in use (both
/// eV/Å, lengths of vectors).
struct HeldOutFrame {
  std::vector<double> deviation, error;
};

/// Smallest t that scores of a new frame do not exceed with probability `level`, for an atom chosen at random in a
/// frame that is exchangeable with the given ones. All frames, including the new one, have equal weight; infinite below
/// least_frames(level). Dunn, Wasserman and Ramdas, J. Am. Stat. Assoc. 118, 2491 (2023), pooled distributions.
double conformal_quantile(const std::vector<std::vector<double>>& scores_by_frame, double level);

/// Smallest number of frames for which conformal_quantile is finite: 9 for 0.9.
int least_frames(double level);

/// Upper bound of the error of a force as a function of the committee's deviation: increasing, logarithmic
/// interpolation between knots, constant below the first and proportional to the deviation above the last; with a
/// single knot proportional everywhere.
struct BoundCurve {
  std::vector<double> deviation, bound;  ///< eV/Å, rising
  double operator()(double d) const;
};

/// Split conformal calibration: with four times least_frames() or more, a third of the frames (chosen at random with
/// `seed`) shapes the curve by quantiles of the errors at similar deviations, and the others scale it by
/// conformal_quantile of error over curve. With fewer, all frames scale the deviation. InputError below least_frames().
BoundCurve calibrated(std::span<const HeldOutFrame> frames, double level, std::uint64_t seed);

/// Length that a vector of three normal components does not exceed with probability `level`, where `deviation` is the
/// root of the sum of their variances: the bound of an uncalibrated deviation.
double gaussian_bound(double deviation, double level);

}  // namespace cambium::deepmd
