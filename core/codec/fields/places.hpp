#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/codec/bytes.hpp"

namespace cambium::lowp {

/// Ascending indices: differences of consecutive ones, seven bits per byte, packed by Zstandard.
void put_places(std::span<const std::uint64_t> places, ByteWriter& out);
/// Throws DamagedStream if they do not ascend or one is not below `end`.
std::vector<std::uint64_t> get_places(ByteReader& in, std::uint64_t end);

}  // namespace cambium::lowp
