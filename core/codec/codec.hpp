#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cambium::lowp {

/// How far a decoded value may lie from the original: `value`, or `value` times the range (largest minus smallest
/// finite value) of the array that is encoded.
struct LossyBound {
  enum class Kind { absolute, relative };
  Kind kind = Kind::relative;
  double value = 1e-3;
};

/// What predicts a value from those before it. `automatic` tries both and takes Lorenzo's prediction where it is
/// smaller by 5 %: at the same bound, interpolation leaves the smaller mean error.
enum class LossyPredictor { automatic, interpolation, lorenzo };

/// Encodes a row-major array of float or double so that every finite value comes back within the bound, and every other
/// value (infinite, not a number) as it is, bit for bit. Whatever the array holds, |x - x'| <= bound holds for each
/// element: values for which arithmetic cannot promise it are stored whole. The same bytes on every machine of the same
/// byte order. InputError when the bound is not a positive number. Quantisation codes are packed by Huffman's code and
/// Zstandard.
template <class T>
std::vector<std::byte> lossy_encode(std::span<const T> values, std::span<const std::int64_t> shape, LossyBound bound,
                                    LossyPredictor predictor = LossyPredictor::automatic);

/// What an encoded array says of itself.
struct LossyInfo {
  int bytes_per_value = 4;                               ///< 4: float, 8: double
  double bound = 0.0;                                    ///< absolute; 0 when every value is exact
  LossyPredictor predictor = LossyPredictor::automatic;  ///< `automatic`: stored exactly, none used
  std::vector<std::int64_t> shape;
  std::int64_t elements() const;
};

/// InputError when `bytes` does not begin with an encoded array.
LossyInfo lossy_info(std::span<const std::byte> bytes);

/// Decodes into `values`, which must have the type and number of elements that lossy_info() names. InputError when not,
/// or when `bytes` is damaged.
template <class T>
void lossy_decode(std::span<const std::byte> bytes, std::span<T> values);

}  // namespace cambium::lowp
