#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plugins/assimilate/observations/network.hpp"

namespace cambium::assimilate {

/// What the members of an ensemble would have observed, beside what was observed.
struct ObservedEnsemble {
  std::vector<double> mean;         ///< p: H x of the mean
  std::vector<double> anomalies;    ///< N x p: H x of each member minus that
  std::vector<double> innovations;  ///< p: observation minus mean
  std::size_t members = 0;
  /// From H x of all members (N x p) and the observations (p).
  static ObservedEnsemble of(std::vector<double> seen, std::span<const double> observed);
};

/// Members' values at the places first .. last - 1 of the state space: by (member, field, place).
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

/// The ensemble transform Kalman filter (half_width 0: one transform for all places) and its local form (Hunt,
/// Kostelich, Szunyogh 2007): each place has a transform of its own from the observations within twice `half_width`,
/// the inverse variance of whose errors is multiplied by gaspari_cohn(). `inflation`: factor of the background
/// covariance. `relaxation`: share of the
/// way from the analysis spread of every number back to its background spread (J. S. Whitaker and T. M. Hamill, Mon.
/// Weather Rev. 140, 3078 (2012)). A place without observations keeps its members but for the inflation. Any division
/// into slices gives the same bits.
void analyse(EnsembleSlice& slice, const ObservedEnsemble& seen, const Network& network, const StateSpace& space,
             double half_width, double inflation, double relaxation = 0.0);

}  // namespace cambium::assimilate
