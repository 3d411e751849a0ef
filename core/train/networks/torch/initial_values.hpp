#pragma once
#include <cstdint>
#include <span>

#include "core/base/tensor_ref.hpp"

namespace cambium::train {

/// Fills a float32 or float64 array with normal random values of zero mean, addressed by (seed, parameter, element):
/// the same on every rank. Separate from the Torch code, which must not include the random number header (it includes
/// Kokkos).
void fill_normal(const TensorRef& out, double deviation, std::uint64_t seed, std::int64_t parameter);
void fill_constant(const TensorRef& out, double value);
/// Copies `values`, one per element of `out`, in its order.
void fill_numbers(const TensorRef& out, std::span<const double> values);

}  // namespace cambium::train
