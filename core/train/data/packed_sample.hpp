#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/train/kinds/dataset.hpp"

namespace cambium::train {

/// A sample as one block of bytes, with the names, types and shapes of its arrays, which may differ between samples.
/// For samples that are the arrays of their fields and nothing else.

/// Bytes of a field with a name of this length, this number of dimensions and bytes of values.
std::int64_t packed_field_bytes(std::size_t name, int rank, std::int64_t bytes);
/// Bytes of a sample apart from its fields.
std::int64_t packed_head_bytes();
/// Bytes of a sample.
std::int64_t packed_bytes(const Sample& sample);
/// Writes packed_bytes() bytes to memory aligned to 8. InternalError if there is no room for them, and for an array
/// that is not contiguous in host memory.
void pack_sample(const Sample& sample, std::byte* to, std::int64_t room);
/// A copy of what was packed, which owns its memory; arrays begin at cache lines.
SamplePtr unpack_sample(const std::byte* from);

}  // namespace cambium::train
