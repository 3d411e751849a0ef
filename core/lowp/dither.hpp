#pragma once
#include <cstdint>

namespace cambium::lowp {

/// Address of a rounding operation: the same random numbers for the same address, on any rank and in any order of
/// calls. `first` is the index of the first element within the tensor, a multiple of 128.
struct RoundingAddress {
  std::uint64_t seed = 0, tensor = 0, step = 0;
  std::int64_t first = 0;
};

constexpr int dither_block = 128;

/// Sixteen random bits for each element of the block of 128 that begins at element address.first + 128 block. Philox of
/// core/parallel/random.hpp: element e has bits of Random4(seed, Stream::rounding, tensor 2^40 + 16 (e / 128) + e % 16,
/// step), half (e / 16) % 2 (0: low) of word (e % 128) / 32.
void dithers(const RoundingAddress& address, std::int64_t block, std::uint16_t* out);

}  // namespace cambium::lowp
