#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plugins/assimilate/observations/network.hpp"

namespace cambium::assimilate {

/// Observed values predicted by the members of an ensemble, and the innovations.
struct ObservedEnsemble {
  std::vector<double> mean;         ///< p: H x of the mean
  std::vector<double> anomalies;    ///< N x p: H x of each member minus that
  std::vector<double> innovations;  ///< p: observation minus mean
  std::size_t members = 0;
  /// From H x of all members (N x p) and the observations (p).
  static ObservedEnsemble of(std::vector<double> seen, std::span<const double> observed);
};

/// Members' values at the grid points first .. last - 1 of the state space: by (member, field, point).
struct EnsembleSlice {
  std::size_t members = 0, fields = 0, first = 0, last = 0;
  std::vector<double> values;
  std::size_t places() const { return last - first; }
  double& at(std::size_t member, std::size_t field, std::size_t place) {
    return values[(member * fields + field) * places() + place - first];
  }
  double at(std::size_t member, std::size_t field, std::size_t place) const {
    return values[(member * fields + field) * places() + place - first];
  }
};

/// Ensemble transform Kalman filter (half_width 0: one transform for all grid points) and its local form (Hunt,
/// Kostelich, Szunyogh 2007): each grid point has its own transform from the observations within twice `half_width`,
/// whose inverse error variances are multiplied by gaspari_cohn(). `inflation`: factor of the background covariance.
/// `relaxation`: relaxation of the analysis spread of every element to its background spread, 0 to 1 (J. S. Whitaker
/// and T. M. Hamill, Mon. Weather Rev. 140, 3078 (2012)). A grid point without observations keeps its members, except
/// for the inflation. The result is bitwise identical for any partition into slices.
void analyse(EnsembleSlice& slice, const ObservedEnsemble& seen, const Network& network, const StateSpace& space,
             double half_width, double inflation, double relaxation = 0.0);

}  // namespace cambium::assimilate
