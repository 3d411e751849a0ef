#pragma once
#include <cstdint>
#include <cstring>

#include "core/base/pack.hpp"
#if defined(__AVX__) && !defined(CAMBIUM_SCALAR_PACKS_ONLY)
#include <immintrin.h>
#endif

namespace cambium {

/// Finds the interval of a positive number if every octave is divided into 2^bits equal intervals: its leading bits are
/// the index (D. Wolff and W. G. Rudd, Comput. Phys. Commun. 120, 20 (1999)).
struct OctaveGrid {
  int bits = 0;
  std::int64_t first = 0;  ///< key of the interval that is counted as 0

  static constexpr std::uint64_t one = 0x3ff0000000000000;  ///< bits of 1.0
  CAMBIUM_FN std::uint64_t low_bits() const { return (std::uint64_t{1} << (52 - bits)) - 1; }

  /// Number of the interval of x.
  std::int64_t interval(double x) const {
    std::uint64_t word;
    std::memcpy(&word, &x, sizeof word);
    return static_cast<std::int64_t>(word >> (52 - bits)) - first;
  }
  /// Lower end of interval k.
  double begin(std::int64_t k) const {
    const std::uint64_t word = static_cast<std::uint64_t>(k + first) << (52 - bits);
    double x;
    std::memcpy(&x, &word, sizeof x);
    return x;
  }
};

#if !defined(CAMBIUM_SCALAR_PACKS_ONLY)
namespace detail {
/// Spelled out, as in pack.hpp.
template <int Bytes>
struct WordLanes;
template <>
struct WordLanes<16> {
  typedef std::uint64_t type __attribute__((vector_size(16)));
};
template <>
struct WordLanes<32> {
  typedef std::uint64_t type __attribute__((vector_size(32)));
};
template <>
struct WordLanes<64> {
  typedef std::uint64_t type __attribute__((vector_size(64)));
};
}  // namespace detail
#endif

/// A row of four values per lane, from the interval of each lane's argument.
template <class P>
struct TableRows {
  std::int64_t at[P::width];  ///< index of the row's first value in a table
  P t;  ///< position in the interval: mantissa of x minus that of the interval's lower end, below 2^-bits

  /// `offset` is an integer number of rows to add, below 2^31.
  CAMBIUM_FN TableRows(P x, const OctaveGrid& grid, P offset) {
    if constexpr (P::width == 1) {
      const double number = x[0];
      auto word = __builtin_bit_cast(std::uint64_t, number);  // memcpy is the host's where HIP compiles
      at[0] =
          4 * (static_cast<std::int64_t>(word >> (52 - grid.bits)) - grid.first + static_cast<std::int64_t>(offset[0]));
      word = (word & grid.low_bits()) | OctaveGrid::one;
      t = __builtin_bit_cast(double, word) - 1.0;
    }
#if !defined(CAMBIUM_SCALAR_PACKS_ONLY)
    else {
      using Words = typename detail::WordLanes<8 * P::width>::type;
      const Words word = __builtin_bit_cast(Words, x.v);
      // 2^52 + n holds n in its low bits.
      const Words start = __builtin_bit_cast(Words, (offset + P(0x1p52)).v) - (std::uint64_t{0x433} << 52);
      const Words key = ((word >> (52 - grid.bits)) - static_cast<std::uint64_t>(grid.first) + start) << 2;
      t = __builtin_bit_cast(P, (word & grid.low_bits()) | OctaveGrid::one) - P(1.0);
      std::memcpy(at, &key, sizeof at);
    }
#endif
  }

  /// c0 + c1 t + c2 t^2 + c3 t^3 with the rows of `table` as coefficients.
  CAMBIUM_FN P cubic(const double* table) const {
    const auto c = gather(table);
    return fma(fma(fma(c.type, t, c.z), t, c.y), t, c.x);
  }

 private:
  CAMBIUM_FN Rows<P> gather(const double* table) const {
#if defined(__AVX__) && !defined(CAMBIUM_SCALAR_PACKS_ONLY)
    if constexpr (P::width == 4) {  // full rows, transposed in registers
      using V = typename P::Vector;
      const V a = P::load(table + at[0]).v, b = P::load(table + at[1]).v, c = P::load(table + at[2]).v,
              d = P::load(table + at[3]).v;
      const V ab02 = __builtin_shufflevector(a, b, 0, 4, 2, 6), ab13 = __builtin_shufflevector(a, b, 1, 5, 3, 7);
      const V cd02 = __builtin_shufflevector(c, d, 0, 4, 2, 6), cd13 = __builtin_shufflevector(c, d, 1, 5, 3, 7);
      return {__builtin_shufflevector(ab02, cd02, 0, 1, 4, 5), __builtin_shufflevector(ab13, cd13, 0, 1, 4, 5),
              __builtin_shufflevector(ab02, cd02, 2, 3, 6, 7), __builtin_shufflevector(ab13, cd13, 2, 3, 6, 7)};
    }
#endif
    int row[P::width];
    for (int k = 0; k < P::width; ++k) row[k] = static_cast<int>(at[k] >> 2);
    return gather_rows<P>(table, row);
  }
};

/// Clamps to two bounds; two instructions if packs are four doubles of AVX.
template <class P>
CAMBIUM_FN P bounded(P low, P x, P high) {
#if defined(__AVX__) && !defined(CAMBIUM_SCALAR_PACKS_ONLY)
  if constexpr (P::width == 4) return typename P::Vector(_mm256_max_pd(_mm256_min_pd(x.v, high.v), low.v));
#endif
  return max(low, min(high, x));
}

/// any(m) in one instruction if packs are four doubles of AVX.
template <class Mask>
CAMBIUM_FN bool some(Mask m) {
#if defined(__AVX__) && !defined(CAMBIUM_SCALAR_PACKS_ONLY) && !defined(CAMBIUM_DEVICE_COMPILER)
  if constexpr (sizeof m.bits == sizeof(__m256i)) {
    const auto bits = __builtin_bit_cast(__m256i, m.bits);
    return !_mm256_testz_si256(bits, bits);
  }
#endif
  return any(m);
}

}  // namespace cambium
