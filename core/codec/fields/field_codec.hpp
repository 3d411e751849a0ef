#pragma once
#include <optional>
#include <string>

#include "core/codec/fields/enhanced.hpp"

namespace cambium::lowp {

/// How a field of a file is encoded.
struct FieldCoding {
  LossyBound bound;
  LossyPredictor predictor = LossyPredictor::automatic;
  std::optional<EnhancedCoding> learned;  ///< absent: the plain codec
  int threads = 1;                        ///< on which pieces of a large field are encoded at once
  /// Larger fields are split along their first dimension into pieces of about this many values, each a stream of its
  /// own with the same absolute bound. The result does not depend on the number of threads.
  std::int64_t piece = std::int64_t{1} << 24;
};

/// Outcome for a field: sums over its pieces, and the report of the last enhanced one.
struct FieldReport {
  std::size_t bytes = 0;
  std::int64_t pieces = 1, enhanced = 0;
  EnhancedReport last;
};

/// Encodes a row-major array of float or double; the result is any stream type of this library: plain, with
/// corrections, or pieces of both. InputError as lossy_encode() and enhanced_encode().
template <class T>
std::vector<std::byte> encode_field(std::span<const T> values, std::span<const std::int64_t> shape,
                                    const FieldCoding& coding, FieldReport& report,
                                    std::span<const HelpingField<T>> helping = {});

struct FieldInfo {
  LossyInfo plain;  ///< shape of the complete field; predictor and bound of its first piece
  std::int64_t pieces = 1;
  bool enhanced = false;  ///< the first piece is
  bool strict = true;
};

/// InputError if `bytes` does not begin with an encoded field.
FieldInfo field_info(std::span<const std::byte> bytes);

/// Decodes the output of encode_field(). InputError if `bytes` is damaged, or is not a field of this type and size.
/// `weights`: of streams that were encoded with weights from elsewhere.
template <class T>
void decode_field(std::span<const std::byte> bytes, std::span<T> values, const Enhancer* weights = nullptr,
                  int threads = 1, std::span<const HelpingField<T>> helping = {});

}  // namespace cambium::lowp
