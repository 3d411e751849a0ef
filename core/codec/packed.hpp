#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/codec/bytes.hpp"

namespace cambium::lowp {

/// FNV-1a over bytes, 64 bits (Fowler, Noll, Vo); `before`: the hash of the preceding bytes.
std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t before = 0xcbf29ce484222325ull);

/// Zstandard frame of a payload with its own checksum, followed, in a skippable frame, by a checksum of `header`, which
/// precedes it, and of all packed bytes. Readers that know neither still read it.
std::vector<std::byte> pack(std::span<const std::byte> payload, std::span<const std::byte> header);
/// Throws DamagedStream if a byte of payload or header has changed; streams of earlier versions, which have no
/// checksum, are not checked. `length`: of the payload.
std::vector<std::byte> unpack(std::span<const std::byte> packed, std::span<const std::byte> header,
                              std::uint64_t length);

}  // namespace cambium::lowp
