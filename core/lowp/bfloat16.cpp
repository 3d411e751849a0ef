#include "core/lowp/bfloat16.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace cambium::lowp {

void encode_bfloat16(std::span<const float> values, std::span<std::uint16_t> out) {
  if (values.size() != out.size()) throw InternalError("encode_bfloat16: spans of different length");
  for (std::size_t k = 0; k < values.size(); ++k) out[k] = to_bfloat16(values[k]);
}

void decode_bfloat16(std::span<const std::uint16_t> in, std::span<float> values) {
  if (values.size() != in.size()) throw InternalError("decode_bfloat16: spans of different length");
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = from_bfloat16(in[k]);
}

void encode_bfloat16(std::span<const float> values, const RoundingAddress& address, std::span<std::uint16_t> out) {
  if (values.size() != out.size()) throw InternalError("encode_bfloat16: spans of different length");
  std::uint16_t random[dither_block];
  for (std::size_t begin = 0; begin < values.size(); begin += dither_block) {
    dithers(address, static_cast<std::int64_t>(begin / dither_block), random);
    const std::size_t n = std::min<std::size_t>(dither_block, values.size() - begin);
    for (std::size_t k = 0; k < n; ++k) {
      std::uint32_t bits;
      std::memcpy(&bits, &values[begin + k], 4);
      // Infinity and not-a-number have nothing to round.
      const bool finite = (bits & 0x7f800000) != 0x7f800000;
      out[begin + k] = finite ? static_cast<std::uint16_t>((bits + random[k]) >> 16) : to_bfloat16(values[begin + k]);
    }
  }
}

}  // namespace cambium::lowp
