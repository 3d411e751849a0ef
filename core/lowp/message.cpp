#include "core/lowp/message.hpp"

#include <cstring>

#include "core/base/error.hpp"
#include "core/lowp/bfloat16.hpp"
#include "core/lowp/groups.hpp"
#include "core/lowp/microscaling.hpp"

namespace cambium::lowp {
namespace {

GroupFormat format_of(WireCodec codec) { return codec == WireCodec::int8 ? int8_groups : int4_groups; }

bool in_blocks(WireCodec codec) { return codec >= WireCodec::mxfp8_e4m3; }

Microscaled blocks_of(WireCodec codec) {
  return codec == WireCodec::mxfp8_e4m3 ? mxfp8_e4m3 : codec == WireCodec::mxfp8_e5m2 ? mxfp8_e5m2 : mxfp4;
}

void require_length(WireCodec codec, std::int64_t numbers, std::size_t bytes) {
  if (numbers % wire_piece != 0 || message_bytes(codec, numbers) != static_cast<std::int64_t>(bytes))
    throw InternalError("a message has another length than its values");
}

/// f(k, value k) of a message with values of fixed size.
template <class F>
void each(WireCodec codec, std::span<const std::byte> in, F&& f) {
  const std::size_t size = codec == WireCodec::bf16 ? 2 : 4;
  for (std::size_t k = 0; k < in.size() / size; ++k) {
    std::uint16_t half = 0;
    float x = 0;
    if (size == 2)
      std::memcpy(&half, in.data() + 2 * k, 2), x = from_bfloat16(half);
    else
      std::memcpy(&x, in.data() + 4 * k, 4);
    f(k, x);
  }
}

}  // namespace

std::int64_t message_bytes(WireCodec codec, std::int64_t n) {
  if (codec == WireCodec::none) return 4 * n;
  if (in_blocks(codec)) return blocks_of(codec).bytes(n);
  return codec == WireCodec::bf16 ? 2 * n : format_of(codec).bytes(n);
}

double bits_per_number(WireCodec codec) {
  return 8.0 * static_cast<double>(message_bytes(codec, wire_piece)) / wire_piece;
}

void encode_message(WireCodec codec, std::span<const float> values, const RoundingAddress& address,
                    std::span<std::byte> out) {
  require_length(codec, std::ssize(values), out.size());
  if (codec == WireCodec::int8 || codec == WireCodec::int4)
    return encode_groups(format_of(codec), values, address, out);
  if (in_blocks(codec)) return encode_blocks(blocks_of(codec), values, out);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::uint16_t half = to_bfloat16(values[k]);
    if (codec == WireCodec::bf16)
      std::memcpy(out.data() + 2 * k, &half, 2);
    else
      std::memcpy(out.data() + 4 * k, &values[k], 4);
  }
}

void decode_message(WireCodec codec, std::span<const std::byte> in, std::span<float> values) {
  require_length(codec, std::ssize(values), in.size());
  if (codec == WireCodec::int8 || codec == WireCodec::int4) return decode_groups(format_of(codec), in, values);
  if (in_blocks(codec)) return decode_blocks(blocks_of(codec), in, values);
  each(codec, in, [&](std::size_t k, float x) { values[k] = x; });
}

void add_message(WireCodec codec, std::span<const std::byte> in, std::span<float> values) {
  require_length(codec, std::ssize(values), in.size());
  if (codec == WireCodec::int8 || codec == WireCodec::int4) return add_groups(format_of(codec), in, values);
  if (in_blocks(codec)) return add_blocks(blocks_of(codec), in, values);
  each(codec, in, [&](std::size_t k, float x) { values[k] += x; });
}

}  // namespace cambium::lowp
