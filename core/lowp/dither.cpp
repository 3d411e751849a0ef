#include "core/lowp/dither.hpp"

#include <cstring>

#include "core/parallel/random.hpp"

namespace cambium::lowp {
namespace {

/// Eight counters in parallel, every word in 64 bits of its own, so a product of two words is one multiplication.
typedef std::uint64_t Words __attribute__((vector_size(64)));
typedef std::uint16_t Halves __attribute__((vector_size(16)));

struct Counters {
  Words c0, c1, c2, c3;

  Counters(std::uint64_t first, std::uint64_t step) {
    const Words id = first + Words{0, 1, 2, 3, 4, 5, 6, 7};
    c0 = id & 0xffffffffull;
    c1 = id >> 32;
    c2 = Words{} + (step & 0xffffffffull);
    c3 = Words{} + (step >> 32);
  }
  /// One round of Philox 4x32.
  void mix(std::uint32_t key0, std::uint32_t key1) {
    const Words a = c0 * 0xD2511F53ull, b = c2 * 0xCD9E8D57ull;
    c0 = (b >> 32) ^ c1 ^ key0;
    c1 = b & 0xffffffffull;
    c2 = (a >> 32) ^ c3 ^ key1;
    c3 = a & 0xffffffffull;
  }
};

void store(Words words, std::uint16_t* out) {
  const Halves low = __builtin_convertvector(words, Halves), high = __builtin_convertvector(words >> 16, Halves);
  std::memcpy(out, &low, sizeof low);
  std::memcpy(out + 16, &high, sizeof high);
}

}  // namespace

void dithers(const RoundingAddress& address, std::int64_t block, std::uint16_t* out) {
  const std::uint64_t first =
      (address.tensor << 40) + 16 * static_cast<std::uint64_t>(address.first / dither_block + block);
  Counters half[2] = {{first, address.step}, {first + 8, address.step}};
  std::uint32_t key0 = static_cast<std::uint32_t>(address.seed ^ (address.seed >> 32));
  std::uint32_t key1 = static_cast<std::uint32_t>(Stream::rounding);
  for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9u, key1 += 0xBB67AE85u)
    for (auto& counters : half) counters.mix(key0, key1);
  for (int k = 0; k < 2; ++k) {
    const Words words[4] = {half[k].c0, half[k].c1, half[k].c2, half[k].c3};
    for (int w = 0; w < 4; ++w) store(words[w], out + 32 * w + 8 * k);
  }
}

}  // namespace cambium::lowp
