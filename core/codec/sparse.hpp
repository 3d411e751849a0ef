#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cambium::lowp {

/// Part of a saved array that a backward pass needs. values: every element within the bound; zeros stay exact, no
/// non-zero element becomes zero, and if none is negative, none becomes negative. signs: which are zero and the sign of
/// the others, which are restored as +-1.
enum class Keep { values, signs };

/// Encodes activations, many of which may be zero: one bit per element marks the others, packed by Zstandard, and the
/// lossy codec takes the rest (core/codec/codec.hpp; its first axis, the batch, prefers Lorenzo's prediction).
/// InputError if the bound is not a positive number.
template <class T>
std::vector<std::byte> encode_sparse(std::span<const T> values, std::span<const std::int64_t> shape, double bound,
                                     Keep keep);
template <class T>
void decode_sparse(std::span<const std::byte> bytes, std::span<T> values);

/// Integers (indices of maxima), exactly: differences of neighbours, by the bytes they need, packed by Zstandard.
std::vector<std::byte> encode_integers(std::span<const std::int64_t> values);
void decode_integers(std::span<const std::byte> bytes, std::span<std::int64_t> values);

}  // namespace cambium::lowp
