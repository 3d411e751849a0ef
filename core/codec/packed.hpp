#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/codec/bytes.hpp"

namespace cambium::lowp {

/// FNV-1a over bytes, 64 bits (Fowler, Noll, Vo); `before`: the sum of what stands before them.
std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t before = 0xcbf29ce484222325ull);

/// A payload by Zstandard with its own checksum, and behind it, in a frame that Zstandard skips, one of `header`, which
/// stands before it, and of all packed bytes. Readers that know of neither read it as before.
std::vector<std::byte> pack(std::span<const std::byte> payload, std::span<const std::byte> header);
/// Throws DamagedStream where a byte of payload or header is not what was packed; streams of earlier versions, which
/// have no checksum, are taken as they are. `length`: of the payload.
std::vector<std::byte> unpack(std::span<const std::byte> packed, std::span<const std::byte> header,
                              std::uint64_t length);

}  // namespace cambium::lowp
