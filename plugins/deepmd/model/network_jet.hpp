#pragma once
#include <vector>

#include "plugins/deepmd/model/model.hpp"

namespace cambium::deepmd {

/// Outputs of a network with one scalar input at x with their first two derivatives, by the chain rule of every layer.
/// Plain host code in double: it builds tables and constants, and is the oracle of the batched kernels.
std::vector<Jet<double>> evaluate_jet(const Network& net, double x);

/// Output of a network for a row of values.
std::vector<double> evaluate(const Network& net, std::vector<double> x);

}  // namespace cambium::deepmd
