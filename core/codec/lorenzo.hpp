#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/codec/bytes.hpp"
#include "core/codec/shape.hpp"

namespace cambium::lowp {

/// Order of the differences along each dimension. Order d takes d first differences in turn: 0 leaves values unchanged
/// (noise, independent planes), 1 is Lorenzo's prediction, 2 that of a linear trend.
struct LorenzoCoding {
  static constexpr int most_order = 2, shifts = 4;
  std::array<std::uint8_t, FieldShape::dimensions> order{1, 1, 1, 1};
  std::uint8_t shift = 0;  ///< of the lattice of decoded values against zero, in quarters of its step

  bool operator==(const LorenzoCoding&) const = default;
  void put(ByteWriter& out) const;
  /// Throws DamagedStream.
  static LorenzoCoding from(ByteReader& in);
};

/// Field rounded to integer steps of the lattice, and the values that no step describes.
template <class T>
struct Rounded {
  std::vector<std::uint32_t> steps;  ///< wraps around, so that sums undo differences whatever the values are
  std::vector<std::uint64_t> places;
  std::vector<T> values;
};
template <class T>
Rounded<T> round_to_steps(const T* field, std::int64_t elements, double bound, int shift);

/// Replaces the steps by their differences and appends the codes of these to `codes`, those that no code describes to
/// `large`.
void lorenzo_codes(std::vector<std::uint32_t>& steps, const FieldShape& shape, const LorenzoCoding& coding,
                   std::vector<std::uint16_t>& codes, std::vector<std::uint32_t>& large);

/// Rounding to integer steps first, then Lorenzo's prediction from the preceding neighbours in every dimension, in
/// exact integers: differences along each dimension in turn (after cuSZ, Tian et al., PACT 2020). Exact zeros are
/// restored as zeros if the lattice is not shifted.
template <class T>
void lorenzo_encode(const T* field, const FieldShape& shape, double bound, const LorenzoCoding& coding,
                    ByteWriter& out);
/// Throws DamagedStream.
template <class T>
void lorenzo_decode(ByteReader& in, const FieldShape& shape, double bound, const LorenzoCoding& coding, T* field);

}  // namespace cambium::lowp
