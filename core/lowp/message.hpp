#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/lowp/dither.hpp"

namespace cambium::lowp {

/// Encoding of values in messages: bfloat16 (nearest), the groups of groups.hpp, or the blocks of microscaling.hpp
/// (nearest). `int4` is for values after randomised_hadamard().
enum class WireCodec { none, bf16, int8, int4, mxfp8_e4m3, mxfp8_e5m2, mxfp4 };

/// True if values share a scale: those of a group or block should be of similar magnitude.
constexpr bool shares_scales(WireCodec codec) { return codec != WireCodec::none && codec != WireCodec::bf16; }

/// Messages consist of pieces of this many values (float32 if the codec is none).
constexpr std::int64_t wire_piece = 128;

/// For n values, a multiple of wire_piece.
std::int64_t message_bytes(WireCodec codec, std::int64_t n);
double bits_per_number(WireCodec codec);
void encode_message(WireCodec codec, std::span<const float> values, const RoundingAddress& address,
                    std::span<std::byte> out);
void decode_message(WireCodec codec, std::span<const std::byte> in, std::span<float> values);
/// values += decoded values.
void add_message(WireCodec codec, std::span<const std::byte> in, std::span<float> values);

}  // namespace cambium::lowp
