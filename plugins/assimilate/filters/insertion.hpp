#pragma once
#include <span>
#include <vector>

#include "plugins/assimilate/observations/network.hpp"

namespace cambium::assimilate {

/// Direct insertion: the smallest change of the state that reproduces the observed values, x + H^T (H H^T)^-1 (y - H
/// x). An observation of a single element replaces it. Values on walls do not change. NumericalError when two
/// observations coincide.
void insert(std::span<double> state, const Network& network, std::span<const double> observed, const StateSpace& space);

/// Nudging by successive corrections: every element moves by `gain` times the mean misfit of the observations of its
/// field, weighted by gaspari_cohn() (G. P. Cressman, Mon. Weather Rev. 87, 367 (1959); J. E. Hoke and R. A. Anthes,
/// Mon. Weather Rev. 104, 1551 (1976)). Elements farther than twice `half_width` from all of them, fields without
/// observations and walls stay.
void nudge(std::span<double> state, const Network& network, std::span<const double> observed, const StateSpace& space,
           double gain, double half_width);

}  // namespace cambium::assimilate
