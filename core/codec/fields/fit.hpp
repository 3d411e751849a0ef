#pragma once
#include "core/codec/fields/enhancer.hpp"

namespace cambium::lowp {

/// Settings for fitting an enhancer.
struct FitSettings {
  /// linear: two linear stages. convolution: then a stage with a hidden layer, kept if it gains 1 dB.
  enum class Network { linear, convolution };
  Network network = Network::linear;
  int groups = 10;
  double seconds = 10.0;  ///< a limit of the time for fitting one field
};

/// Gain of an enhancer, in decibels of root mean squared error, on the field it was tried on.
struct EnhancerReport {
  double linear_gain = 0.0;  ///< of the linear stages
  double gain = 0.0;         ///< of all stages that were kept
  bool tried_hidden = false, kept_hidden = false;
  std::size_t weight_bytes = 0;
  double operations = 0.0;  ///< multiplications of sums and corrections of the linear stages
};

/// Fits an enhancer to the difference between `decoded` (by the plain codec, absolute bound `bound`) and `original`. A
/// second linear stage is kept if it is worth its bytes, at `slope` dB for e times `stream_bytes`; a stage with a
/// hidden layer if it gains at least 1 dB over the linear ones. InputError for impossible settings.
template <class T>
Enhancer fit_enhancer(std::span<const T> original, std::span<const T> decoded, const FieldShape& shape, double bound,
                      std::span<const HelpingField<T>> helping, const FitSettings& settings, std::size_t stream_bytes,
                      double slope, EnhancerReport& report);

/// dB that a linear stage of the nearest neighbours gains which was fitted to some 16384 values: a few operations for
/// each value, where a fit takes hundreds or thousands. Infinite for fields so small that a fit costs no more.
template <class T>
double probed_gain(std::span<const T> original, std::span<const T> decoded, const FieldShape& shape, double bound,
                   std::span<const HelpingField<T>> helping, int groups, EnhancerReport& report);

}  // namespace cambium::lowp
