#pragma once
#include <cstdint>
#include <span>

#include "core/codec/bytes.hpp"

namespace cambium::lowp {

/// Rows of one table in a message, stored consecutively.
template <class T>
struct RowGroup {
  std::span<T> values;
  std::int64_t width = 1;
  double bound = 0.0;     ///< maximum change of a value; positive
  bool repeated = false;  ///< a row equal to an earlier one of the group, once quantised, becomes a reference to it
};

/// Encodes groups (many tables make one stream); their values become the output of decode_rows(). A value that no
/// multiple of the step approximates within the bound, or that is not finite, is kept unchanged.
template <class T>
void encode_rows(std::span<const RowGroup<T>> groups, ByteWriter& out);

/// Fills the values of groups of the same sizes; bounds and references are those of the stream. Throws DamagedStream.
template <class T>
void decode_rows(ByteReader& in, std::span<const RowGroup<T>> groups);

}  // namespace cambium::lowp
