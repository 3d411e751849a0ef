#pragma once
#include <cstdint>
#include <span>

#include "core/base/tensor_ref.hpp"

namespace cambium::graph {

/// Hash of weights, to reuse results that were computed from the same weights. The arrays must be contiguous, with
/// elements of 4 or 8 bytes.
std::uint64_t hash_of(std::span<const TensorRef> weights);

}  // namespace cambium::graph
