#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/lowp/message.hpp"
#include "core/sparse/products.hpp"

namespace cambium::sparse {

/// Encodes rows of dense matrices as messages: packed, and in low-bit formats with a codec (then padded to pieces of
/// 128 values that share a scale). T: double or float.
template <class T>
class RowCoder {
 public:
  /// `rank`: sender of these messages, on which stochastic rounding depends.
  RowCoder(lowp::WireCodec codec, int rank, int ranks) : codec_(codec), rank_(rank), ranks_(ranks) {}

  /// Size of a message of n values.
  std::int64_t bytes(std::int64_t n) const;
  /// All rows, or rows `which` in this order; `out` has bytes() of their number of values.
  void encode(Rows<const T> rows, std::byte* out);
  void encode_some(Rows<const T> rows, std::span<const std::int32_t> which, std::byte* out);
  void decode(const std::byte* in, Rows<T> rows) const;
  void begin_step(std::uint64_t seed, std::int64_t step) { seed_ = seed, step_ = step, messages_ = 0; }

 private:
  template <class F>
  void encode_rows(Rows<const T> rows, std::int64_t n, F&& row_of, std::byte* out);
  void encode_numbers(std::byte* out);

  lowp::WireCodec codec_;
  int rank_, ranks_;
  std::uint64_t seed_ = 0, messages_ = 0;
  std::int64_t step_ = 0;
  mutable std::vector<float> numbers_;  ///< of one message, padded
};

}  // namespace cambium::sparse
