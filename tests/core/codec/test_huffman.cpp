#include <algorithm>

#include "core/codec/huffman.hpp"
#include "core/parallel/random.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::lowp;

namespace {

std::size_t round_trip(const std::vector<std::uint16_t>& symbols) {
  ByteWriter out;
  huffman_encode(symbols, out);
  ByteReader in(out.bytes());
  std::vector<std::uint16_t> back(symbols.size(), 77);
  huffman_decode(in, back);
  CHECK(back == symbols);
  CHECK(in.rest().empty());
  return out.bytes().size();
}

}  // namespace

TEST_CASE("symbols come back from a prefix code") {
  round_trip({});
  round_trip({65535});
  round_trip(std::vector<std::uint16_t>(1001, 3));
  round_trip({0, 65535, 0, 0, 1});
  for (int n = 1; n < 40; ++n) {
    std::vector<std::uint16_t> symbols(n);
    for (int k = 0; k < n; ++k) symbols[k] = static_cast<std::uint16_t>(Random4(1, Stream::test, k, n).bits[0] % 7);
    round_trip(symbols);
  }
  std::vector<std::uint16_t> every(200000);
  for (std::size_t k = 0; k < every.size(); ++k)
    every[k] = static_cast<std::uint16_t>(Random4(2, Stream::test, k, 0).bits[0]);
  round_trip(every);
}

TEST_CASE("a prefix code is as short as the entropy allows, and codes that would be too long are flattened") {
  // Frequencies 1, 1, 2, 4, ..., 2^17: Huffman's code spends k bits on the k-th most frequent symbol, which is the
  // entropy.
  std::vector<std::uint16_t> symbols{900, 901};
  double entropy_bits = 2 * 18;
  for (int k = 1; k <= 17; ++k) {
    symbols.insert(symbols.end(), std::size_t{1} << k, static_cast<std::uint16_t>(1000 + k));
    entropy_bits += (18 - k) * double(1 << k);
  }
  std::rotate(symbols.begin(), symbols.begin() + 12345, symbols.end());
  CHECK(round_trip(symbols) <= entropy_bits / 8 + 250);
  // Fibonacci frequencies make the deepest trees: 30 levels here, 24 is the longest code.
  std::vector<std::uint16_t> deep;
  std::size_t a = 1, b = 1;
  for (int k = 0; k < 30; ++k) {
    deep.insert(deep.end(), a, static_cast<std::uint16_t>(k));
    b += a;
    a = b - a;
  }
  round_trip(deep);
}
