#pragma once
#include <string>
#include <vector>

#include "core/io/hdf5/h5.hpp"
#include "core/plugin/result.hpp"
#include "plugins/kinetic/deck/params.hpp"

namespace cambium::kinetic {

/// Exponential rate of the fields' amplitude from the history of their energy, W ~ exp(2 gamma t): the least-squares
/// line through log W, or, of a wave, W ~ exp(2 gamma t) cos^2(omega t + phi), through its peaks, one for each half
/// period (peaks_of_wave).
class GrowthFit {
 public:
  explicit GrowthFit(const GrowthParams& params) : params_(params) {}

  void add(double time, double energy) {
    time_.push_back(time);
    energy_.push_back(energy);
  }
  struct Result {
    bool found = false;
    double gamma = 0.0;
    double omega = 0.0;                           ///< 0 when the fit is not to an oscillation
    double gamma_error = 0.0, omega_error = 0.0;  ///< standard errors; 0 for two points
    double residual = 0.0;                        ///< root mean square of log amplitude about the line
    double explained = 0.0;                       ///< R^2 of log amplitude
    /// gamma of the first and of the second half of the points and its error; where there are six points or more.
    double early = 0.0, late = 0.0, halves_error = 0.0;
    double scatter = 0.0;  ///< standard deviation of the distance of peaks, over its mean
    double other = 0.0;    ///< amplitude of the energy's strongest other oscillation, over that of the one fitted
    int points = 0;        ///< samples, or peaks
    double from = 0.0, to = 0.0;
  };
  Result fit() const;
  /// The rate and its uncertainty; empty without a fit.
  std::vector<cambium::Result> results(const Result& fit) const;
  /// Reason why nothing could be fitted; otherwise empty.
  std::string excuse(const Result& fit) const;
  /// Reasons to doubt that the fit is of one exponential or of one wave, with what to do; empty if there are none.
  std::string doubts(const Result& fit) const;

  void save(io::Group& group) const;
  void load(const io::Group& group);

 private:
  GrowthParams params_;
  std::vector<double> time_, energy_;
};

}  // namespace cambium::kinetic
