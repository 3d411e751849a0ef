#pragma once
#include <span>
#include <vector>

#include "core/lowp/binary_coding.hpp"

namespace cambium::lowp {

/// Second moments of what a matrix is multiplied by, about the means: of the inputs x of the full network and the
/// inputs x' that the same samples give where the layers before are rounded already.
struct InputMoments {
  std::int64_t columns = 0;
  std::vector<double> full_mean, mean;  ///< of x, of x'
  std::vector<double> own;              ///< E[x' x'], columns x columns
  std::vector<double> cross;            ///< E[x x'], row of x
};

/// For `rows` rows of x and x' (rows, columns), row-major.
InputMoments input_moments(std::span<const float> full, std::span<const float> rounded, std::int64_t columns);

/// A matrix of few bits and what is added to each row's product so that its mean over the samples is that of the full
/// matrix.
struct CalibratedMatrix {
  BinaryCodedMatrix matrix;
  std::vector<float> shift;  ///< (rows)
};

/// Improves `start`, a coding of `weights` (rows, columns), so that products W' x' come as near as can be to W x about
/// their means, in the least-squares sense: of one row, q A q - 2 q b with A = E[x' x'] + ridge and b = E[x' x] w +
/// ridge w. In turn each sign pattern is set to the best one for the others (coordinate descent, QuantEase, Behdin et
/// al., arXiv:2309.01885) and scales are fitted; neither ever raises the error. `ridge` is a share of the mean of A's
/// diagonal and holds on to the weights where samples say nothing. Matrices of ternary_coded() keep their scale
/// (`ternary`).
CalibratedMatrix calibrated(BinaryCodedMatrix start, bool ternary, std::span<const float> weights,
                            const InputMoments& inputs, int rounds = 20, double ridge = 1e-4);

}  // namespace cambium::lowp
