#pragma once
#include <span>
#include <vector>

#include "core/lowp/binary_coding.hpp"

namespace cambium::lowp {

/// Centred second moments of the input of a matrix product: of the inputs x of the full-precision network and the
/// inputs x' for the same samples after quantisation of the preceding layers.
struct InputMoments {
  std::int64_t columns = 0;
  std::vector<double> full_mean, mean;  ///< of x, of x'
  std::vector<double> own;              ///< E[x' x'], columns x columns
  std::vector<double> cross;            ///< E[x x'], row of x
};

/// For `rows` rows of x and x' (rows, columns), row-major.
InputMoments input_moments(std::span<const float> full, std::span<const float> rounded, std::int64_t columns);

/// A low-bit matrix and a shift of each row's product so that its mean over the samples is that of the full-precision
/// matrix.
struct CalibratedMatrix {
  BinaryCodedMatrix matrix;
  std::vector<float> shift;  ///< (rows)
};

/// Improves `start`, a coding of `weights` (rows, columns), so that products W' x' approximate W x about their means in
/// the least-squares sense: for one row, q A q - 2 q b with A = E[x' x'] + ridge and b = E[x' x] w + ridge w.
/// Alternates between setting each sign pattern to the best one given the others (coordinate descent, QuantEase, Behdin
/// et al., arXiv:2309.01885) and fitting scales; neither ever raises the error. `ridge`, as a fraction of the mean of
/// A's diagonal, regularises towards the weights where samples carry no information. Matrices of ternary_coded() keep
/// their scale (`ternary`).
CalibratedMatrix calibrated(BinaryCodedMatrix start, bool ternary, std::span<const float> weights,
                            const InputMoments& inputs, int rounds = 20, double ridge = 1e-4);

}  // namespace cambium::lowp
