#pragma once
#include <cstdint>
#include <span>

#include "core/codec/bytes.hpp"

namespace cambium::lowp {

/// Writes symbols with a prefix code that is optimal for their frequencies among codes of at most 24 bits (Huffman's,
/// flattened if it would be longer), in canonical form, so that only the lengths are stored. Four interleaved streams,
/// decoded in parallel.
void huffman_encode(std::span<const std::uint16_t> symbols, ByteWriter& out);

/// Fills `symbols`; throws DamagedStream.
void huffman_decode(ByteReader& in, std::span<std::uint16_t> symbols);

}  // namespace cambium::lowp
