#pragma once
#include <optional>
#include <string>

#include "core/codec/codec.hpp"
#include "core/codec/fields/fit.hpp"

namespace cambium::lowp {

/// How a field is encoded with an enhancer.
struct EnhancedCoding {
  FitSettings fit;
  /// The bound holds for every value: where a correction would break it, the value stays as the plain codec gave it,
  /// and its index is listed. Otherwise errors may reach 1.75 bounds.
  bool strict = true;
  /// Weights fitted before, which the decoder has, too; null: fitted to this field, and part of its stream.
  const Enhancer* weights = nullptr;
};

/// Outcome.
struct EnhancedReport {
  bool kept = false;
  bool stopped_early = false;  ///< a fit to a few values gained nothing; `gain` is its
  double gain = 0.0;           ///< dB of the corrected field over the plain codec at the same bound
  std::size_t bytes = 0;       ///< of the corrected stream
  std::size_t rival_bytes =
      0;  ///< of the plain stream, made to be compared, whose mean error is no smaller; 0: none made
  std::size_t plain_bytes = 0, weight_bytes = 0, exception_bytes = 0;
  double exceptions = 0.0;  ///< fraction of the values
  EnhancerReport fit;
  /// A line for the log: the gain, or that the field is stored without corrections, and why.
  std::string text() const;
};

/// lossy_encode(), followed by corrections if they are worth their bytes: the plain codec with a finer bound, tried
/// until its mean error is as small, must need 1 % more. Otherwise only the stream of lossy_encode(). A PSNR is that of
/// the corrected field: the gain of the corrections permits a larger bound. `helping`: decoded fields that the decoder
/// has, too. InputError as lossy_encode() and fit_enhancer().
template <class T>
std::vector<std::byte> enhanced_encode(std::span<const T> values, std::span<const std::int64_t> shape, LossyBound bound,
                                       LossyPredictor predictor, const EnhancedCoding& coding,
                                       std::span<const HelpingField<T>> helping, EnhancedReport& report);

/// Fits weights for fields like this one, to be used for later ones; none if they are not worth their bytes even when
/// stored only once.
template <class T>
std::optional<Enhancer> enhancer_for(std::span<const T> values, std::span<const std::int64_t> shape, LossyBound bound,
                                     LossyPredictor predictor, const FitSettings& settings,
                                     std::span<const HelpingField<T>> helping, EnhancedReport& report);

/// Header of an enhanced stream.
struct EnhancedInfo {
  LossyInfo plain;  ///< of the plain part; its bound is that of a strict stream
  bool strict = true, own_weights = true;
  int helpers = 0;
  std::uint64_t rival_bytes =
      0;  ///< of the plain stream with the same mean error; 0: by a version that did not compare
};

bool is_enhanced(std::span<const std::byte> bytes);
/// InputError if `bytes` does not begin with an enhanced array.
EnhancedInfo enhanced_info(std::span<const std::byte> bytes);

/// As lossy_decode(). `weights`: external weights with which a stream was encoded. InputError also if these, or fields
/// that help, are missing.
template <class T>
void enhanced_decode(std::span<const std::byte> bytes, std::span<T> values, const Enhancer* weights = nullptr,
                     std::span<const HelpingField<T>> helping = {});

}  // namespace cambium::lowp
