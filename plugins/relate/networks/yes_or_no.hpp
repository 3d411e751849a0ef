#pragma once
#include <algorithm>
#include <cmath>

namespace cambium::relate {

/// Probability of label 1 for a logit: 1 / (1 + exp(-x)).
inline double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// Binary cross entropy of a logit x and a label y of 0 or 1: log(1 + exp(x)) - y x, without overflow.
inline double cross_entropy(double x, double y) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))) - y * x;
}

}  // namespace cambium::relate
