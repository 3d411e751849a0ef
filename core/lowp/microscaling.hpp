#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace cambium::lowp {

/// Floating-point formats of 8 and 4 bits: sign, exponent, fraction. E4M3 and E5M2: OCP 8-bit Floating Point
/// Specification (OFP8) 1.0, 2023 (Micikevicius et al., arXiv 2209.05433); E2M1: OCP Microscaling Formats (MX) 1.0,
/// 2023. E4M3 has one pattern that is not a number and no infinity, E5M2 has both as IEEE 754 does, E2M1 neither.
struct SmallFloat {
  int exponent_bits, fraction_bits;

  constexpr int bits() const { return 1 + exponent_bits + fraction_bits; }
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr int least_exponent() const { return 1 - bias(); }
  /// Exponent of the largest value: the highest exponent of E5M2 is infinity's.
  constexpr int largest_exponent() const { return (1 << exponent_bits) - 1 - bias() - (exponent_bits == 5 ? 1 : 0); }
  constexpr bool has_nan() const { return bits() == 8; }
  constexpr bool has_infinity() const { return exponent_bits == 5; }
  double largest() const;  ///< 448, 57344, 6

  /// Code of the nearest value, of two the one with an even code; magnitudes beyond the largest, infinities included,
  /// are clipped. NaN becomes a NaN code; for E2M1 zero.
  std::uint8_t code(double x) const;
  double value(std::uint8_t code) const;
  bool operator==(const SmallFloat&) const = default;
};
constexpr SmallFloat e4m3{4, 3}, e5m2{5, 2}, e2m1{2, 1};

/// Blocks of 32 values that share a power of two (E8M0: an exponent of 8 bits with bias 127, 255 for NaN), from OCP MX
/// 1.0 (Rouhani et al., arXiv 2310.10537): MXFP8 with elements E4M3 or E5M2, and MXFP4 with elements E2M1. The scale is
/// 2^(exponent of the largest magnitude - largest_exponent()); elements are rounded to the nearest, so the largest may
/// be clipped. A block is its elements, two 4-bit ones per byte (the first one in the lower half), followed by its
/// scale: messages may be split between blocks.
struct Microscaled {
  SmallFloat element;
  static constexpr std::int64_t block = 32;

  std::int64_t block_bytes() const { return block * element.bits() / 8 + 1; }
  /// For n values, the last block padded with zeros.
  std::int64_t bytes(std::int64_t n) const { return (n + block - 1) / block * block_bytes(); }
  double bits_per_number() const { return 8.0 * static_cast<double>(block_bytes()) / block; }
};
constexpr Microscaled mxfp8_e4m3{e4m3}, mxfp8_e5m2{e5m2}, mxfp4{e2m1};

/// `out` has format.bytes(values.size()) bytes. A block with a number that is not finite becomes not-a-number
/// altogether.
void encode_blocks(const Microscaled& format, std::span<const float> values, std::span<std::byte> out);
void decode_blocks(const Microscaled& format, std::span<const std::byte> in, std::span<float> values);
/// values += decoded values.
void add_blocks(const Microscaled& format, std::span<const std::byte> in, std::span<float> values);

/// Rounds rows of `width` values as by encoding and decoding: blocks extend along a row, and the last one of each may
/// be shorter.
template <class T>
void round_rows_to_blocks(const Microscaled& format, std::span<T> values, std::int64_t width);
/// The same for a matrix of `width` columns whose blocks extend along its columns: for weights, inputs x outputs, that
/// are multiplied by such rows.
template <class T>
void round_columns_to_blocks(const Microscaled& format, std::span<T> values, std::int64_t width);

extern template void round_rows_to_blocks<float>(const Microscaled&, std::span<float>, std::int64_t);
extern template void round_rows_to_blocks<double>(const Microscaled&, std::span<double>, std::int64_t);
extern template void round_columns_to_blocks<float>(const Microscaled&, std::span<float>, std::int64_t);
extern template void round_columns_to_blocks<double>(const Microscaled&, std::span<double>, std::int64_t);

}  // namespace cambium::lowp
