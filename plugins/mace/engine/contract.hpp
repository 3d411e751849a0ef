#pragma once
#include "plugins/mace/model/mace_model.hpp"

namespace cambium::mace {

/// Adds the symmetric contraction of the message [component][channel] of an atom of a species.
void contract(const Contraction& contraction, int species, int channels, const double* message, double* out);
/// Adds the gradient with respect to the message, given that with respect to the result.
void contract_gradient(const Contraction& contraction, int species, int channels, const double* message,
                       const double* out_gradient, double* message_gradient);

/// Adds the products of a neighbour's features with harmonics and weights of an edge.
void convolve(const std::vector<ConvolutionPath>& paths, const double* features, const double* harmonics,
              const double* weights, double* out);
/// Gradient of the same, added, with respect to harmonics, weights and, where it is not null, features.
void convolve_gradient(const std::vector<ConvolutionPath>& paths, const double* features, const double* harmonics,
                       const double* weights, const double* out_gradient, double* harmonics_gradient,
                       double* weights_gradient, double* features_gradient);

/// Energy that a readout adds (without scale), and its gradient with respect to the features, added.
double read_out(const Readout& readout, double activation, const double* features, double scale, double* gradient);

}  // namespace cambium::mace
