#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/codec/bytes.hpp"

namespace cambium::lowp {

/// Rising places: the distance of each to the one before in seven bits a byte, packed by Zstandard.
void put_places(std::span<const std::uint64_t> places, ByteWriter& out);
/// Throws DamagedStream where they do not rise or one is not below `end`.
std::vector<std::uint64_t> get_places(ByteReader& in, std::uint64_t end);

}  // namespace cambium::lowp
