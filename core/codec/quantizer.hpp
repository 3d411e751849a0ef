#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/codec/bytes.hpp"

namespace cambium::lowp {

/// Codes of a field in the order of prediction, and the values that no code describes (code 0), in the same order.
template <class T>
struct Quantized {
  std::vector<std::uint16_t> codes;
  std::vector<T> exceptions;
};

/// Differences between values and predictions as multiples of nearly twice the bound: a step a little shorter than that
/// leaves room for the rounding of T.
template <class T>
struct Quantizer {
  static constexpr int radius = 32768;
  T bound, step, inverse;

  explicit Quantizer(double absolute) {
    bound = static_cast<T>(absolute);
    if (static_cast<double>(bound) > absolute) bound = std::nextafter(bound, T(0));
    step = static_cast<T>(2.0 * absolute * (1.0 - 1.0 / 65536.0));
    inverse = T(1) / step;
  }

  /// Code of a row; values become what will be decoded. Returns the number of exceptions (code 0, value kept; a
  /// non-finite one is replaced by the prediction, on which later ones build).
  int encode(T* values, std::int64_t stride, const T* prediction, std::int64_t n, std::uint16_t* codes) const {
    int exceptions = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      const T x = values[k * stride], p = prediction[k];
      const T q = std::rint((x - p) * inverse);
      const T decoded = p + q * step;
      // The rounded difference is below the bound only if the exact one is at most the bound.
      const bool fits = (std::abs(q) < T(radius)) & (std::abs(x - decoded) < bound);
      codes[k] = fits ? static_cast<std::uint16_t>(static_cast<int>(fits ? q : T(0)) + radius) : std::uint16_t(0);
      values[k * stride] = fits ? decoded : x;
      exceptions += !fits;
    }
    return exceptions;
  }
  void decode(const std::uint16_t* codes, const T* prediction, std::int64_t n, T* values, std::int64_t stride) const {
    for (std::int64_t k = 0; k < n; ++k) values[k * stride] = prediction[k] + static_cast<T>(codes[k] - radius) * step;
  }
};

/// Substitute of a value that is not finite while others are predicted from it.
template <class T>
T stand_in(T prediction) {
  return std::isfinite(prediction) ? prediction : T(0);
}

}  // namespace cambium::lowp
