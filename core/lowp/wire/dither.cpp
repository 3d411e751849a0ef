#include "core/lowp/wire/dither.hpp"

#include "core/parallel/random.hpp"

namespace cambium::lowp {

void dithers(const RoundingAddress& address, std::int64_t block, std::uint16_t* out) {
  constexpr int lanes = 16;
  std::uint32_t c0[lanes], c1[lanes], c2[lanes], c3[lanes];
  const std::uint64_t first = (address.tensor << 40) + 16 * static_cast<std::uint64_t>(address.first / dither_block + block);
  for (int k = 0; k < lanes; ++k) {
    c0[k] = static_cast<std::uint32_t>(first + k), c1[k] = static_cast<std::uint32_t>((first + k) >> 32);
    c2[k] = static_cast<std::uint32_t>(address.step), c3[k] = static_cast<std::uint32_t>(address.step >> 32);
  }
  // The ten rounds of Philox 4x32 for sixteen counters at once.
  std::uint32_t key0 = static_cast<std::uint32_t>(address.seed ^ (address.seed >> 32));
  std::uint32_t key1 = static_cast<std::uint32_t>(Stream::rounding);
  for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9u, key1 += 0xBB67AE85u)
    for (int k = 0; k < lanes; ++k) {
      const std::uint64_t a = 0xD2511F53ull * c0[k], b = 0xCD9E8D57ull * c2[k];
      c0[k] = static_cast<std::uint32_t>(b >> 32) ^ c1[k] ^ key0, c1[k] = static_cast<std::uint32_t>(b);
      c2[k] = static_cast<std::uint32_t>(a >> 32) ^ c3[k] ^ key1, c3[k] = static_cast<std::uint32_t>(a);
    }
  const std::uint32_t* words[4] = {c0, c1, c2, c3};
  for (int w = 0; w < 4; ++w)
    for (int k = 0; k < lanes; ++k) {
      out[2 * lanes * w + k] = static_cast<std::uint16_t>(words[w][k]);
      out[2 * lanes * w + lanes + k] = static_cast<std::uint16_t>(words[w][k] >> 16);
    }
}

}  // namespace cambium::lowp
