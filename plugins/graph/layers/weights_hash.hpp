#pragma once
#include <cstdint>
#include <span>

#include "core/base/tensor_ref.hpp"

namespace cambium::graph {

/// A number that changes when a weight does, so that what was computed from the same weights is not computed again.
/// Arrays of numbers of 4 or 8 bytes without gaps.
std::uint64_t hash_of(std::span<const TensorRef> weights);

}  // namespace cambium::graph
