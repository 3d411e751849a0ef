#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cambium::lowp {

/// Error bound of decoded values: `value`, or `value` times the range (largest minus smallest finite value) of the
/// encoded array; or, for psnr, the ratio of range to root mean squared error, with `value` in decibels: 20 log10 of
/// it.
struct LossyBound {
  enum class Kind { absolute, relative, psnr };
  Kind kind = Kind::relative;
  double value = 1e-3;
  bool mean = false;  ///< the mean error at this bound must not depend on the form that makes the stream shortest
};

/// Predictor of a value from those before it. Each is tried in its usual form and in the one (level bounds of
/// interpolation, orders of Lorenzo's differences) whose codes on this field, or on blocks of it, have the fewest bits;
/// `automatic` encodes with both predictors and keeps the shortest stream. `zfp`: no prediction but ZFP's block
/// transform, with the values beyond the bound stored in addition.
enum class LossyPredictor { automatic, interpolation, lorenzo, zfp };

/// Encodes a row-major array of float or double. Every finite value is restored within the bound, every other value
/// (infinite, NaN) bitwise. |x - x'| <= bound holds for each element of any array: values for which arithmetic cannot
/// guarantee it are stored uncompressed. The bytes are the same on every machine of the same byte order. InputError if
/// the bound is not a positive number, or for zfp in a build without it. Quantisation codes are packed by Huffman
/// coding and Zstandard; a checksum covers every byte.
template <class T>
std::vector<std::byte> lossy_encode(std::span<const T> values, std::span<const std::int64_t> shape, LossyBound bound,
                                    LossyPredictor predictor = LossyPredictor::automatic);

/// 20 log10(range / root mean squared error) of the finite values; infinite if no value differs.
template <class T>
double psnr(std::span<const T> original, std::span<const T> decoded);

/// The absolute bound, to some hundredths of a decibel the largest one, that gives a PSNR of at least `decibel`; 0 if
/// only exact storage does.
template <class T>
double bound_for_psnr(std::span<const T> values, std::span<const std::int64_t> shape, double decibel,
                      LossyPredictor predictor);

/// Converts `bound` to an absolute bound for this array (psnr: by a search); 0 requests exact storage: a constant
/// array, or one without a finite value. InputError if it is not a positive number.
template <class T>
double absolute_bound(std::span<const T> values, std::span<const std::int64_t> shape, LossyBound bound,
                      LossyPredictor predictor);

/// Header of an encoded array.
struct LossyInfo {
  int bytes_per_value = 4;                               ///< 4: float, 8: double
  double bound = 0.0;                                    ///< absolute; 0 when every value is exact
  LossyPredictor predictor = LossyPredictor::automatic;  ///< `automatic`: stored exactly, none used
  std::vector<std::int64_t> shape;
  std::int64_t elements() const;
};

/// InputError if `bytes` does not begin with an encoded array.
LossyInfo lossy_info(std::span<const std::byte> bytes);

/// Decodes into `values`, which must have the type and number of elements that lossy_info() names. InputError when not,
/// or when `bytes` is damaged.
template <class T>
void lossy_decode(std::span<const std::byte> bytes, std::span<T> values);

}  // namespace cambium::lowp
