#pragma once
#include <algorithm>
#include <cmath>

namespace cambium::relate {

/// The probability of yes that an output says: 1 / (1 + exp(-x)).
inline double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// -log of the probability that output x gives to an answer y of 0 or 1: log(1 + exp(x)) - y x, without overflow.
inline double cross_entropy(double x, double y) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))) - y * x;
}

}  // namespace cambium::relate
