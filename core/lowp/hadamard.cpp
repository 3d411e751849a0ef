#include "core/lowp/hadamard.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/base/error.hpp"

namespace cambium::lowp {
namespace {

typedef float Sixteen __attribute__((vector_size(64)));

/// Butterfly of elements k and k ^ D: x[k ^ D] + x[k] at the lower index, x[k ^ D] - x[k] at the upper one.
template <int D, int... K>
Sixteen butterfly(Sixteen x, std::integer_sequence<int, K...>) {
  const Sixteen partner = __builtin_shufflevector(x, x, (K ^ D)...), sign = {(K & D ? -1.0f : 1.0f)...};
  return partner + sign * x;
}
template <int D>
Sixteen butterfly(Sixteen x) {
  return butterfly<D>(x, std::make_integer_sequence<int, 16>{});
}

/// Values of one transform: N times sixteen.
template <int N>
struct Block {
  std::array<Sixteen, N> part;

  explicit Block(const float* from) { std::memcpy(part.data(), from, sizeof part); }
  void write(float* to) const { std::memcpy(to, part.data(), sizeof part); }

  void scale(const std::array<Sixteen, N>& factors) {
    for (int k = 0; k < N; ++k) part[k] *= factors[k];
  }
  void transform() {
    for (Sixteen& x : part) x = butterfly<1>(butterfly<2>(butterfly<4>(butterfly<8>(x))));
    for (int distance = 1; distance < N; distance *= 2)
      for (int k = 0; k < N; ++k) {
        if (k & distance) continue;
        const Sixteen sum = part[k] + part[k + distance];
        part[k + distance] = part[k] - part[k + distance];
        part[k] = sum;
      }
  }
};

/// Signs from the first 128 binary fraction digits of pi, times `factor`: nothing-up-my-sleeve numbers.
std::array<Sixteen, 8> signs(float factor) {
  constexpr std::uint64_t digits[2] = {0x243F6A8885A308D3ull, 0x13198A2E03707344ull};
  std::array<Sixteen, 8> out;
  for (int k = 0; k < 128; ++k) out[k / 16][k % 16] = (digits[k / 64] >> (k % 64)) & 1 ? -factor : factor;
  return out;
}

void require_multiple(std::span<float> values, std::size_t of) {
  if (values.size() % of != 0) throw InternalError("Hadamard transform: the length is not a multiple of its block");
}

void transform32(std::span<float> values, float factor) {
  require_multiple(values, 32);
  const std::array<Sixteen, 2> factors{Sixteen{} + factor, Sixteen{} + factor};
  for (std::size_t at = 0; at < values.size(); at += 32) {
    Block<2> block(&values[at]);
    block.transform();
    block.scale(factors);
    block.write(&values[at]);
  }
}

}  // namespace

void randomised_hadamard(std::span<float> values) {
  require_multiple(values, 128);
  const auto factors = signs(1.0f);
  for (std::size_t at = 0; at < values.size(); at += 128) {
    Block<8> block(&values[at]);
    block.scale(factors);
    block.transform();
    block.write(&values[at]);
  }
}

void inverse_randomised_hadamard(std::span<float> values) {
  require_multiple(values, 128);
  const auto factors = signs(1.0f / 128.0f);
  for (std::size_t at = 0; at < values.size(); at += 128) {
    Block<8> block(&values[at]);
    block.transform();
    block.scale(factors);
    block.write(&values[at]);
  }
}

void hadamard32(std::span<float> values) { transform32(values, 1.0f); }
void inverse_hadamard32(std::span<float> values) { transform32(values, 1.0f / 32.0f); }

}  // namespace cambium::lowp
