#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/lowp/dither.hpp"

namespace cambium::lowp {

/// Integers of 8 or 4 bits in groups that share a scale: largest magnitude / 127 or / 7 (15 of the 16 patterns of 4
/// bits are used, so that zero is exact and both signs are symmetric), with unbiased stochastic rounding. A group is
/// its values followed by its scale as a float: messages may be split between groups. After SDP4Bit (Jia et al.,
/// NeurIPS 2024).
struct GroupFormat {
  int bits = 8;              ///< 8 or 4
  std::int64_t group = 128;  ///< values per group, a multiple of 128

  std::int64_t group_bytes() const { return group * bits / 8 + 4; }
  std::int64_t groups(std::int64_t n) const { return (n + group - 1) / group; }
  /// For n values, the last group padded with zeros.
  std::int64_t bytes(std::int64_t n) const { return groups(n) * group_bytes(); }
  double bits_per_number() const { return 8.0 * group_bytes() / group; }
};
constexpr GroupFormat int8_groups{8, 128};        ///< 8.25 bits per value: gradients within a node, weights
constexpr GroupFormat int4_groups{4, 128};        ///< 4.25: gradients between nodes, after randomised_hadamard()
constexpr GroupFormat int4_differences{4, 2048};  ///< 4.016: differences of weights

/// `out` has format.bytes(values.size()) bytes. A group with a number that is not finite becomes not-a-number
/// altogether.
void encode_groups(GroupFormat format, std::span<const float> values, const RoundingAddress& address,
                   std::span<std::byte> out);
void decode_groups(GroupFormat format, std::span<const std::byte> in, std::span<float> values);
/// values += decoded values.
void add_groups(GroupFormat format, std::span<const std::byte> in, std::span<float> values);

}  // namespace cambium::lowp
