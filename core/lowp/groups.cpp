#include "core/lowp/groups.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/error.hpp"

namespace cambium::lowp {
namespace {

void require_format(GroupFormat format, std::size_t numbers, std::size_t bytes) {
  if ((format.bits != 8 && format.bits != 4) || format.group < 128 || format.group % 128 != 0)
    throw InternalError("groups have 4 or 8 bits and a multiple of 128 values");
  if (static_cast<std::int64_t>(bytes) != format.bytes(static_cast<std::int64_t>(numbers)))
    throw InternalError("a message of groups has another length than its values");
}

float largest_magnitude(const float* x, std::int64_t n) {
  std::uint32_t most = 0;  // of bits without sign: their order is that of the magnitudes, and NaN is above all
  for (std::int64_t k = 0; k < n; ++k) {
    std::uint32_t bits;
    std::memcpy(&bits, x + k, 4);
    most = std::max(most, bits & 0x7fffffffu);
  }
  float value;
  std::memcpy(&value, &most, 4);
  return value;
}

/// Integers of one block of 128.
void round_block(const float* x, float inverse, int limit, const std::uint16_t* random, std::int8_t* q) {
  const auto low = static_cast<float>(-limit), high = static_cast<float>(limit);
  for (int k = 0; k < dither_block; ++k) {
    const float chance = (static_cast<float>(random[k]) + 0.5f) * (1.0f / 65536.0f);
    const float v = std::floor(x[k] * inverse + chance);
    q[k] = static_cast<std::int8_t>(static_cast<int>(std::min(std::max(v, low), high)));
  }
}

/// Byte k of 64 holds values k (low) and k + 64 (high) of a block of 128.
void pack4(const std::int8_t* q, std::uint8_t* out) {
  for (int k = 0; k < 64; ++k) out[k] = static_cast<std::uint8_t>((q[k] & 15) | (q[k + 64] & 15) << 4);
}

template <bool Add>
void unpack_block(const std::byte* in, int bits, float scale, float* x) {
  std::int8_t bytes[dither_block];
  std::memcpy(bytes, in, static_cast<std::size_t>(dither_block * bits / 8));
  if (bits == 8) {
    for (int k = 0; k < dither_block; ++k) x[k] = (Add ? x[k] : 0.0f) + static_cast<float>(bytes[k]) * scale;
    return;
  }
  for (int k = 0; k < 64; ++k) {
    const int both = static_cast<std::uint8_t>(bytes[k]), low = (both & 15) ^ 8, high = (both >> 4) ^ 8;
    x[k] = (Add ? x[k] : 0.0f) + static_cast<float>(low - 8) * scale;
    x[k + 64] = (Add ? x[k + 64] : 0.0f) + static_cast<float>(high - 8) * scale;
  }
}

template <bool Add>
void unpack_groups(GroupFormat format, std::span<const std::byte> in, std::span<float> values) {
  require_format(format, values.size(), in.size());
  const auto n = std::ssize(values);
  const std::int64_t block_bytes = dither_block * format.bits / 8;
  for (std::int64_t g = 0; g < format.groups(n); ++g) {
    const std::byte* from = in.data() + g * format.group_bytes();
    float scale;
    std::memcpy(&scale, from + format.group * format.bits / 8, 4);
    for (std::int64_t at = g * format.group; at < std::min(n, (g + 1) * format.group);
         at += dither_block, from += block_bytes) {
      if (at + dither_block <= n) {
        unpack_block<Add>(from, format.bits, scale, values.data() + at);
        continue;
      }
      float rest[dither_block] = {};
      std::copy_n(values.data() + at, n - at, rest);
      unpack_block<Add>(from, format.bits, scale, rest);
      std::copy_n(rest, n - at, values.data() + at);
    }
  }
}

}  // namespace

void encode_groups(GroupFormat format, std::span<const float> values, const RoundingAddress& address,
                   std::span<std::byte> out) {
  require_format(format, values.size(), out.size());
  if (address.first % dither_block != 0) throw InternalError("rounding: the first element is no multiple of 128");
  const auto n = std::ssize(values);
  const int limit = format.bits == 8 ? 127 : 7;
  std::uint16_t random[dither_block];
  std::int8_t q[dither_block];
  for (std::int64_t g = 0; g < format.groups(n); ++g) {
    const std::int64_t begin = g * format.group, count = std::min(format.group, n - begin);
    const float most = largest_magnitude(values.data() + begin, count);
    const bool finite = most <= std::numeric_limits<float>::max();
    float scale = most / static_cast<float>(limit), inverse = static_cast<float>(limit) / most;
    if (!finite) scale = std::numeric_limits<float>::quiet_NaN();
    if (!finite || !(inverse <= std::numeric_limits<float>::max()))
      inverse = 0.0f;  // zero, or too small to be represented
    std::byte* to = out.data() + g * format.group_bytes();
    for (std::int64_t at = 0; at < format.group; at += dither_block, to += dither_block * format.bits / 8) {
      float block[dither_block] = {};
      if (at < count && finite)
        std::copy_n(values.data() + begin + at, std::min<std::int64_t>(dither_block, count - at), block);
      dithers(address, (begin + at) / dither_block, random);
      round_block(block, inverse, limit, random, q);
      if (format.bits == 8)
        std::memcpy(to, q, dither_block);
      else
        pack4(q, reinterpret_cast<std::uint8_t*>(to));
    }
    std::memcpy(to, &scale, 4);
  }
}

void decode_groups(GroupFormat format, std::span<const std::byte> in, std::span<float> values) {
  unpack_groups<false>(format, in, values);
}
void add_groups(GroupFormat format, std::span<const std::byte> in, std::span<float> values) {
  unpack_groups<true>(format, in, values);
}

}  // namespace cambium::lowp
